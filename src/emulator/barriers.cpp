// Barriers and shuffles of a warp, and barriers of the block and of the grid.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {

namespace {

std::int32_t as_signed(std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

std::uint64_t combine(exchange_kind kind, std::uint64_t a, std::uint64_t b) {
    switch (kind) {
        case exchange_kind::add: return static_cast<std::uint32_t>(a + b);
        case exchange_kind::least: return std::min(a, b);
        case exchange_kind::least_signed: return as_signed(a) < as_signed(b) ? a : b;
        case exchange_kind::most: return std::max(a, b);
        case exchange_kind::most_signed: return as_signed(a) > as_signed(b) ? a : b;
        case exchange_kind::bit_and: return a & b;
        case exchange_kind::bit_or: return a | b;
        default: return a ^ b;
    }
}

}  // namespace

handover worker::sync_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[current_].what = warp_wait::barrier;
    return wait_for_warp(mask, return_address);
}

handover worker::wait_for_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[current_].mask = mask & lanes_;  // without lanes that the block does not have
    if ((mask >> running.lane & 1) == 0) {
        raise_from_fiber({hazard_kind::divergent_barrier, current_, 0, 0, kLoad, return_address});
    }
    at_warp_sync_ |= running.bit;
    // Other lanes may go on in the meantime, so this lane's basic blocks enter the trace to show its position.
    if (joining_ || warp_ended_ != 0 || mask != ~0u) enter_basic_blocks_ahead();
    return stop_lane(return_address);
}

handover worker::exchange(std::uint32_t mask, std::uint64_t value, exchange_kind kind, int operand, int width,
                          std::uintptr_t return_address) {
    // As PTX's shfl: segments of `width` lanes. A lane whose source is outside its segment keeps its own value.
    const int own = static_cast<int>(running.lane);
    const int segment = own & ~(width - 1);
    int source = own;
    switch (kind) {
        case exchange_kind::index: source = segment | (operand & (width - 1)); break;
        case exchange_kind::up: source = own - operand < segment ? own : own - operand; break;
        case exchange_kind::down: source = own + operand >= segment + width ? own : own + operand; break;
        case exchange_kind::exclusive_or: source = (own ^ operand) >= segment + width ? own : own ^ operand; break;
        default: break;
    }
    warp_wait& wait = waits_[current_];
    wait.what = warp_wait::exchange;
    wait.kind = kind;
    wait.offered = value;
    wait.source = source;
    return wait_for_warp(mask, return_address);
}

handover worker::active_lanes(std::uintptr_t return_address) {
    waits_[current_].what = warp_wait::active_lanes;
    at_warp_sync_ |= running.bit;
    enter_basic_blocks_ahead();
    return stop_lane(return_address);
}

handover worker::yield(std::uintptr_t return_address) {
    waits_[current_].what = warp_wait::yield;
    at_warp_sync_ |= running.bit;
    return stop_lane(return_address);
}

handover worker::sync_threads_count(bool value, std::uintptr_t return_address) {
    block_count_ += value;
    counts_values_ = true;
    return stop_lane(return_address);
}

// The lanes that can go on: every other lane of their mask waits with the same mask, or has ended.
std::uint32_t worker::lanes_that_agree() const {
    const std::uint32_t waiting = at_warp_sync_;
    // The common case: all waiting lanes have the same mask.
    const std::uint32_t first = waits_[first_ + static_cast<unsigned>(std::countr_zero(waiting))].mask;
    bool alike = (first & ~(waiting | warp_ended_)) == 0;
    for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const warp_wait& own = waits_[first_ + static_cast<unsigned>(std::countr_zero(rest))];
        alike &= own.what <= warp_wait::exchange && own.mask == first;
    }
    if (alike) return waiting;
    std::uint32_t all = 0;
    for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        const warp_wait& own = waits_[first_ + static_cast<unsigned>(i)];
        if (own.what > warp_wait::exchange) continue;
        bool agree = (own.mask & ~(waiting | warp_ended_)) == 0;
        for (std::uint32_t others = own.mask & waiting; others != 0; others &= others - 1) {
            const warp_wait& other = waits_[first_ + static_cast<unsigned>(std::countr_zero(others))];
            agree &= other.what <= warp_wait::exchange && other.mask == own.mask;
        }
        if (agree) all |= 1u << i;
    }
    return all;
}

// The lanes that ask which lanes are active, at the site of the first of them. Each receives the mask of them all.
std::uint32_t worker::lanes_together() {
    std::uintptr_t site = 0;
    std::uint32_t all = 0;
    for (std::uint32_t rest = at_warp_sync_; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(rest));
        if (waits_[thread].what != warp_wait::active_lanes) continue;
        if (site == 0) site = sync_sites_[thread];
        if (sync_sites_[thread] == site) all |= rest & -rest;
    }
    for (std::uint32_t rest = all; rest != 0; rest &= rest - 1)
        waits_[first_ + static_cast<unsigned>(std::countr_zero(rest))].received = all;
    return all;
}

// Computes what the thread receives from the lanes that are released with it.
void worker::finish_exchange(unsigned thread, std::uint32_t released) {
    warp_wait& self = waits_[thread];
    const std::uint32_t all = self.mask & released;
    const auto offered = [&](unsigned lane) { return waits_[first_ + lane].offered; };
    const auto of_each = [&](auto f) {
        for (std::uint32_t rest = all; rest != 0; rest &= rest - 1) f(static_cast<unsigned>(std::countr_zero(rest)));
    };
    self.received = 0;
    switch (self.kind) {
        case exchange_kind::index:
        case exchange_kind::up:
        case exchange_kind::down:
        case exchange_kind::exclusive_or: {
            const bool takes_part = (all >> self.source & 1) != 0;
            if (!takes_part || waits_[first_ + static_cast<unsigned>(self.source)].what != warp_wait::exchange) {
                report_hazard(hazard_kind::divergent_barrier, thread, sync_sites_[thread], [&] {
                    return fmt::format("shuffles from lane {} at {}, but that lane takes no part in the shuffle",
                                       self.source, to_string(line_of(sync_sites_[thread])));
                });
                self.received = 0;  // as on an H200; CUDA does not specify the value
                break;
            }
            self.received = offered(static_cast<unsigned>(self.source));
            break;
        }
        case exchange_kind::ballot:
            of_each([&](unsigned lane) { self.received |= std::uint64_t{offered(lane) != 0} << lane; });
            break;
        case exchange_kind::match_any:
            of_each([&](unsigned lane) { self.received |= std::uint64_t{offered(lane) == self.offered} << lane; });
            break;
        case exchange_kind::match_all: {
            bool equal = true;
            of_each([&](unsigned lane) { equal &= offered(lane) == self.offered; });
            self.received = equal ? all : 0;
            break;
        }
        default: {
            const auto first = static_cast<unsigned>(std::countr_zero(all));
            self.received = offered(first);
            of_each([&](unsigned lane) {
                if (lane != first) self.received = combine(self.kind, self.received, offered(lane));
            });
            break;
        }
    }
}

// Returns the lanes that may go on. Lanes that wait for others at a warp-level barrier may not. Lanes that yielded may
// go on only if no other lane can: then this returns 0, and run_yielded() resumes them after the other warps' turn.
std::uint32_t worker::release_warp_syncs() {
    std::uint32_t released = lanes_that_agree();
    if (released == 0) released = lanes_together();
    if (released == 0) {
        std::uint32_t yielded = 0;
        for (std::uint32_t rest = at_warp_sync_; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            if (waits_[first_ + lane].what == warp_wait::yield) yielded |= 1u << lane;
        }
        if (yielded != 0) {
            const unsigned warp = first_ / kWarpSize;
            yielded_[warp] = yielded;
            suspended_[warp] = at_warp_sync_ & ~yielded;
            yielding_ |= 1u << warp;
            at_warp_sync_ = 0;
            return 0;
        }
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(at_warp_sync_));
        raise(hazard_kind::divergent_barrier, thread,
              fmt::format("waits at the warp-level barrier at {}, but not all lanes of its mask reach it",
                          to_string(line_of(sync_sites_[thread]))));
    }
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(rest));
        if (waits_[thread].what == warp_wait::exchange) finish_exchange(thread, released);
    }
    at_warp_sync_ &= ~released;
    warp_synced_ = true;
    // The new count is higher than that of every released lane. So it orders all of their earlier accesses.
    unsigned latest = 0;
    std::uint32_t ordered = 0;
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        const unsigned thread = first_ + static_cast<unsigned>(std::countr_zero(rest));
        if (waits_[thread].what == warp_wait::active_lanes) continue;  // it orders nothing
        latest = std::max(latest, touches_[thread].warp_syncs());
        ordered |= rest & -rest;
    }
    const bool wraps_around = latest == touch::kMaxWarpSyncs;
    for (std::uint32_t rest = ordered; rest != 0; rest &= rest - 1) {
        touch& own = touches_[first_ + static_cast<unsigned>(std::countr_zero(rest))];
        own = touch::make(0, latest % touch::kMaxWarpSyncs + 1, 0, own.thread());
    }
    // The count wraps around, so new accesses would look like old ones. A new interval avoids false alarms.
    if (wraps_around) begin_interval();
    return released;
}

// Resumes the lanes that yielded, warp after warp, until none yields: all wait at the block's barrier or have ended.
void worker::run_yielded() {
    constexpr unsigned kMostIdleRounds = 1 << 16;  // rounds without progress
    const auto begun = std::chrono::steady_clock::now();
    for (unsigned rounds = 0; yielding_ != 0; ++rounds) {
        const std::uint32_t warps = yielding_;
        for (std::uint32_t rest = warps; rest != 0; rest &= rest - 1) {
            const auto warp = static_cast<unsigned>(std::countr_zero(rest));
            yielding_ &= ~(1u << warp);
            resume_warp(warp);
        }
        if (yielding_ != warps) {
            rounds = 0;
        } else if (rounds > kMostIdleRounds) {
            const auto waited = std::chrono::steady_clock::now() - begun;
            if (waited > std::chrono::duration<double>(kSpinSeconds)) raise_spinning();
            std::this_thread::yield();
        }
    }
    some_wait_ = some_ended_ = 0;
    for (unsigned warp = 0; warp < warps_; ++warp) {
        some_ended_ |= ended_lanes_[warp] & ~ended_before_[warp];
        some_wait_ |= lanes_of(warp) & ~ended_lanes_[warp];
    }
}

void worker::raise_spinning() {
    const auto warp = static_cast<unsigned>(std::countr_zero(yielding_));
    const unsigned thread = warp * kWarpSize + static_cast<unsigned>(std::countr_zero(yielded_[warp]));
    raise(hazard_kind::endless_loop, thread,
          fmt::format("spins at {}: no thread that can run will change its condition. To wait for a block that has not "
                      "begun, use grid.sync() and launch with cudaLaunchCooperativeKernel()",
                      to_string(line_of(sync_sites_[thread]))));
}

void worker::forget_warp_syncs() {
    for (unsigned thread = 0; thread < kMaxThreads; ++thread) touches_[thread] = touch::make(0, 0, 0, thread);
    warp_synced_ = false;
}

// Opens the block's barrier. All warps have stopped, and some threads have not ended.
void worker::release_barrier() {
    if (some_ended_ != 0) [[unlikely]]
        report_ended_early();
    unsigned first = 0;
    while (had_ended(first)) ++first;
    const std::uintptr_t barrier = sync_sites_[first];
    for (unsigned thread = first; thread < threads_; ++thread) {
        const std::uintptr_t site = sync_sites_[thread];
        if (site == barrier || had_ended(thread)) [[likely]]
            continue;
        report_hazard(hazard_kind::divergent_barrier, thread, site, [&] {
            return fmt::format("waits at the barrier at {}, but thread {} waits at the one at {}",
                               to_string(line_of(site)), name_of(first), to_string(line_of(barrier)));
        });
        break;
    }
    if (counts_values_) {
        for (unsigned thread = 0; thread < threads_; ++thread) waits_[thread].received = block_count_;
        block_count_ = 0;
        counts_values_ = false;
    }
    begin_interval();
}

void worker::begin_interval() {
    if (++serial_ == touch::kMaxSerial) {
        throw unsupported(
            fmt::format("{}: a block has more than {} barriers", function_name(config_.kernel), touch::kMaxSerial / 2));
    }
    interval_ = touch::make(serial_, 0, 0, 0);
    races_.next_interval();
}

void worker::raise_waiting_too_long() {
    raise({hazard_kind::endless_loop, first_waiting(), 0, 0, kLoad, grid_barrier_});
}

// The first thread that waits at the grid's barrier.
unsigned worker::first_waiting() const {
    unsigned waiting = 0;
    while (sync_sites_[waiting] != grid_barrier_ || (ended_lanes_[waiting / kWarpSize] >> waiting % kWarpSize & 1) != 0)
        ++waiting;
    return waiting;
}

void worker::report_block_ended(std::uint64_t ended) {
    const unsigned waiting = first_waiting();
    report_hazard(hazard_kind::divergent_barrier, waiting, grid_barrier_, [&] {
        return fmt::format("waits at the grid's barrier at {}, but block number {} of the grid has ended",
                           to_string(line_of(grid_barrier_)), ended);
    });
}

void worker::report_ended_early() {
    const auto first = [&](auto lanes_in) {
        unsigned warp = 0;
        while (lanes_in(warp) == 0) ++warp;
        return warp * kWarpSize + static_cast<unsigned>(std::countr_zero(lanes_in(warp)));
    };
    const unsigned ended = first([&](unsigned warp) { return ended_lanes_[warp]; });
    const unsigned waiting = first([&](unsigned warp) { return lanes_of(warp) & ~ended_lanes_[warp]; });
    report_hazard(hazard_kind::divergent_barrier, ended, sync_sites_[waiting], [&] {
        return fmt::format("ended without reaching the barrier at {}, where thread {} waits",
                           to_string(line_of(sync_sites_[waiting])), name_of(waiting));
    });
    ended_before_ = ended_lanes_;
    some_ended_before_ = true;
}

}  // namespace cornerturn::emulator
