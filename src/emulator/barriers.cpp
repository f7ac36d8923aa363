// Where lanes wait for one another: the warp's barriers and shuffles, and the block's barrier.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {

handover worker::sync_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[running.lane].source = -1;
    return wait_for_warp(mask, return_address);
}

handover worker::wait_for_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[running.lane].mask = mask & lanes_;  // no lanes that the block does not have
    if ((mask >> running.lane & 1) == 0) {
        raise_from_fiber({hazard_kind::divergent_barrier, current_, 0, 0, kLoad, return_address});
    }
    at_warp_sync_ |= running.bit;
    return stop_lane(return_address);
}

handover worker::shuffle(std::uint32_t mask, std::uint64_t value, int operand, int width, shuffle_kind kind,
                         std::uintptr_t return_address) {
    // PTX's shfl: segments of `width` lanes; a source outside the segment leaves the lane its own value.
    const int own = static_cast<int>(running.lane);
    const int segment = own & ~(width - 1);
    int source = own;
    switch (kind) {
        case shuffle_kind::index: source = segment | (operand & (width - 1)); break;
        case shuffle_kind::up: source = own - operand < segment ? own : own - operand; break;
        case shuffle_kind::down: source = own + operand >= segment + width ? own : own + operand; break;
        case shuffle_kind::exclusive_or: source = (own ^ operand) >= segment + width ? own : own ^ operand; break;
    }
    warp_wait& wait = waits_[own];
    wait.offered = value;
    wait.source = source;
    return wait_for_warp(mask, return_address);
}

// The lanes that may go on, whose masks' other lanes wait at a warp-level barrier too.
std::uint32_t worker::release_warp_syncs() {
    const std::uint32_t waiting = at_warp_sync_;
    std::uint32_t released = 0;
    for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        const std::uint32_t mask = waits_[i].mask;
        bool agree = (mask & ~(waiting | finished_)) == 0;
        for (std::uint32_t others = mask & waiting; others != 0; others &= others - 1) {
            agree &= waits_[std::countr_zero(others)].mask == mask;
        }
        if (agree) released |= 1u << i;
    }
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(rest));
        warp_wait& self = waits_[thread - first_];
        if (self.source < 0) continue;
        const bool takes_part = (self.mask >> self.source & released >> self.source & 1) != 0;
        if (!takes_part || waits_[self.source].source < 0) {
            raise(hazard_kind::divergent_barrier, thread,
                  fmt::format("shuffles from lane {} at {}, which takes no part in it", self.source,
                              to_string(line_of(sync_sites_[thread]))));
        }
        self.received = waits_[self.source].offered;
    }
    if (released == 0) {
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(waiting));
        raise(hazard_kind::divergent_barrier, thread,
              fmt::format("waits at the warp-level barrier of {}, which not every lane of its mask reaches",
                          to_string(line_of(sync_sites_[thread]))));
    }
    at_warp_sync_ &= ~released;
    warp_synced_ = true;
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        touch& own = touches_[first_ + static_cast<unsigned>(std::countr_zero(rest))];
        if (own.warp_syncs() + 1 == touch::kMaxWarpSyncs) {
            throw unsupported(fmt::format("{}: a warp with {} warp-level barriers in a block",
                                          function_name(config_.kernel), touch::kMaxWarpSyncs));
        }
        own = touch::make(0, own.warp_syncs() + 1, 0, own.thread());
    }
    return released;
}

void worker::forget_warp_syncs() {
    for (unsigned thread = 0; thread < kMaxThreads; ++thread) touches_[thread] = touch::make(0, 0, 0, thread);
    warp_synced_ = false;
}

// After all warps stopped, and not all threads have ended: opens the block's barrier.
void worker::release_barrier() {
    if (ended_ != 0) raise_ended_early();
    const std::uintptr_t barrier = sync_sites_[0];
    const auto end = sync_sites_.begin() + threads_;
    const auto elsewhere = std::find_if(sync_sites_.begin(), end, [&](std::uintptr_t site) { return site != barrier; });
    if (elsewhere != end) {
        raise(hazard_kind::divergent_barrier, static_cast<unsigned>(elsewhere - sync_sites_.begin()),
              fmt::format("waits at the barrier of {}, but thread {} at that of {}", to_string(line_of(*elsewhere)),
                          name_of(0), to_string(line_of(barrier))));
    }
    if (++serial_ == touch::kMaxSerial) {
        throw unsupported(fmt::format("{}: a block with more than {} barriers", function_name(config_.kernel),
                                      touch::kMaxSerial / 2));
    }
    interval_ = touch::make(serial_, 0, 0, 0);
}

void worker::raise_ended_early() {
    const auto first = [&](auto lanes_in) {
        unsigned warp = 0;
        while (lanes_in(warp) == 0) ++warp;
        return warp * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes_in(warp)));
    };
    const unsigned ended = first([&](unsigned warp) { return ended_lanes_[warp]; });
    const unsigned waiting = first([&](unsigned warp) { return lanes_of(warp) & ~ended_lanes_[warp]; });
    raise(hazard_kind::divergent_barrier, ended,
          fmt::format("ended without reaching the barrier of {}, where thread {} waits",
                      to_string(line_of(sync_sites_[waiting])), name_of(waiting)));
}

}  // namespace cornerturn::emulator
