#include "emulator/worker.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#if CORNERTURN_ANNOUNCE_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if !CORNERTURN_OWN_FIBERS
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cornerturn::emulator {
namespace {

std::uint64_t pack(unsigned x, unsigned y, unsigned z) { return x | std::uint64_t{y} << 32 | std::uint64_t{z} << 48; }

extent3 block_at(std::uint64_t index, extent3 grid) {
    return {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y),
            static_cast<unsigned>(index / grid.x / grid.y)};
}

extent3 block_after(extent3 block, extent3 grid) {
    if (++block.x < grid.x) return block;
    block.x = 0;
    if (++block.y < grid.y) return block;
    return {0, 0, block.z + 1};
}

constexpr std::uint32_t lane_mask(unsigned lanes) { return lanes == kWarpSize ? ~0u : (1u << lanes) - 1; }

}  // namespace

namespace {
constinit warp_instruction nothing;
}
warp_instruction* const expects_nothing = &nothing;
thread_local constinit running_lane running{&expects_nothing, 0, 0};
thread_local constinit worker* current_worker = nullptr;
extern "C" {
thread_local constinit built_in_indices cornerturn_built_in{};
}

#if !CORNERTURN_OWN_FIBERS
namespace {

// A fiber learns from the one that switches to it where that one stands.
void resumed(boost::context::detail::transfer_t by) { static_cast<handover*>(by.data)->from->stack_pointer = by.fctx; }

void start(boost::context::detail::transfer_t by) {
    void (*const main)() = static_cast<handover*>(by.data)->to->main;
    resumed(by);
    main();
}

}  // namespace

void make_fiber(fiber& made, char* bottom, char* top, void (*main)()) {
    made.stack_pointer = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - bottom), &start);
    made.main = main;
}

void switch_fibers(handover by) { resumed(boost::context::detail::jump_fcontext(by.to->stack_pointer, &by)); }

void resume(fiber& to) {
    fiber left{};
    switch_fibers({&left, &to});
}
#endif

worker::worker() {
    void* memory =
        mmap(nullptr, kStacksBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw error("the system has no memory for the emulator's stacks (17 MiB a core)");
    madvise(memory, kStacksBytes, MADV_HUGEPAGE);
    stacks_ = static_cast<char*>(memory);
    for (fiber& f : fibers_) f.stack_pointer = stacks_;  // something that can be fetched ahead
#if CORNERTURN_OWN_FIBERS
    for (fiber& f : beginnings_) make_fiber(f, bottom_of(&f), bottom_of(&f) + kStackBytes, &fiber_main);
#endif
}

worker::~worker() { munmap(stacks_, kStacksBytes); }

// ---- Fibers -------------------------------------------------------------------------------------------------------

void worker::fiber_main() {
    const worker& w = *current_worker;
    w.entry_(w.arguments_);
    __builtin_unreachable();
}

#if CORNERTURN_ANNOUNCE_FIBERS
void worker::announce(const fiber& to) {
    announced& left = announced_[running_on_];
    const fiber* stack = &to;  // where a fiber begins; or else the one of the thread that waits there
    if (&to >= fibers_.begin() && &to < fibers_.end()) stack = stack_of_[&to - fibers_.data()];
    running_on_ = &to == &outside_ ? kMaxThreads : static_cast<std::size_t>(stack - beginnings_.data());
    announced& next = announced_[running_on_];
    if (&to != &outside_) {
        next.bottom = bottom_of(stack);
        next.bytes = kStackBytes;
    }
    __sanitizer_start_switch_fiber(&left.fake_stack, next.bottom, next.bytes);
    __sanitizer_finish_switch_fiber(next.fake_stack, &left.bottom, &left.bytes);
}
#endif

void worker::raise_from_fiber(const fault& what) {
    fault_ = what;
    switch_fibers(hand_over(fibers_[what.thread], outside_));
    __builtin_unreachable();  // the block's fibers are made anew
}

// ---- A launch, a block, a warp ------------------------------------------------------------------------------------

void worker::begin(const launch_config& config, kernel_entry entry, const void* arguments, const session& session) {
    config_ = config;
    entry_ = entry;
    arguments_ = arguments;
    threads_ = config.block.x * config.block.y * config.block.z;
    warps_ = (threads_ + kWarpSize - 1) / kWarpSize;
    last_lanes_ = lane_mask(threads_ - (warps_ - 1) * kWarpSize);
    cornerturn_built_in.block_dim = pack(config.block.x, config.block.y, config.block.z);
    cornerturn_built_in.grid_dim = pack(config.grid.x, config.grid.y, config.grid.z);
    for (unsigned i = 0; i < threads_; ++i) {
        packed_thread_[i] =
            pack(i % config.block.x, i / config.block.x % config.block.y, i / config.block.x / config.block.y);
    }
    traces_.clear();
    trace_ = &traces_.emplace_back(0);
    trace_begin_ = trace_->expected.data();
    sites_.clear();
    site_cache_.fill({});
    accesses_ = 0;

    regions_.clear();
    for (const session::buffer& buffer : session.buffers_) {
        regions_.push_back({region::global, buffer.writable, buffer.begin, buffer.bytes, buffer.name, nullptr});
    }
    const byte_range segment = thread_local_segment();
    const auto add_shared = [&](std::uintptr_t begin, std::size_t bytes, const std::string& name,
                                shadow_memory& shadow) {
        regions_.push_back({region::shared, true, begin, bytes, name, &shadow});
    };
    const std::vector<shared_variable> variables = shared_variables_of(config.kernel);
    std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max(), high = 0;
    for (const shared_variable& variable : variables) {
        const std::uintptr_t begin = segment.begin + variable.offset;
        add_shared(begin, variable.bytes, variable.name, static_shadow_);
        low = std::min(low, begin);
        high = std::max(high, begin + variable.bytes);
    }
    if (variables.empty() && !have_symbols()) {  // a stripped program: all of its thread-local memory is one array
        add_shared(segment.begin, segment.bytes, "shared memory", static_shadow_);
        low = segment.begin;
        high = segment.begin + segment.bytes;
    }
    serial_ = 0;
    static_shadow_.cover(low, low < high ? high - low : 0);
    if (config.dynamic_shared_bytes > 0) {
        if (dynamic_shared_ == nullptr) dynamic_shared_ = std::make_unique<bank_row[]>(kMaxShared / sizeof(bank_row));
        const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_shared_.get());
        add_shared(begin, config.dynamic_shared_bytes, "dynamic shared memory", dynamic_shadow_);
        dynamic_shadow_.cover(begin, config.dynamic_shared_bytes);
    }
    current_worker = this;
}

void worker::end() {
    current_worker = nullptr;
    running.cursor = &expects_nothing;
}

namespace {

// Notes the accesses whose cell nobody has touched since the barrier, and, of the loads, those that read what the block
// wrote before it: nearly all. Returns the other lanes. One cell an access; a function of its own, that keeps what it
// needs in registers.
template <direction kOp>
[[gnu::noinline]] std::uint32_t note_untouched(const warp_instruction& instruction, shadow_memory::window cells,
                                               touch by, const touch* touches, touch oldest_write) {
    const std::uint64_t interval = by.bits & touch::kIntervalBits;
    const std::uint64_t* const addresses = instruction.addresses;
    std::uint32_t others = 0;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        shadow_cell& cell = cells[addresses[lane]];
        touch& noted = kOp == kLoad ? cell.read : cell.write;
        if (cell.write.bits - oldest_write.bits >= interval - oldest_write.bits || cell.read.bits >= interval) {
            others |= rest & -rest;
        } else {
            noted.bits = by.bits | touches[lane].bits;
        }
    }
    return others;
}

}  // namespace

// Has the processor fetch what the next warp will access, if it lies as far from this warp's as that from the last's.
inline void worker::prefetch_next(warp_instruction& instruction) {
    const std::uint64_t first = instruction.addresses[0], step = first - instruction.last_first;
    instruction.last_first = first;
    for (int lane = 0; lane < kWarpSize; lane += 8) {
        const void* const expected = reinterpret_cast<const void*>(instruction.addresses[lane] + step);
        __builtin_prefetch(expected, 1);
    }
}

// Counts and checks the instructions of the warp's lanes, all of which have stopped.
[[gnu::always_inline]] inline void worker::settle_instructions() {
    const warp_instruction* const end = &trace_->end;
    for (warp_instruction* const* next = trace_begin_; *next != end; ++next) {
        warp_instruction& instruction = **next;
        if (instruction.active == 0) continue;
        const site& where = *instruction.where;
        if (!instruction.tally.add(instruction.addresses, instruction.active)) [[unlikely]]
            tally_anew(instruction);
        if (shadow_memory* const shadow = instruction.place->shadow; shadow != nullptr) {
            const touch by{interval_.bits | where.touch_bits};
            // A lane that waits at a warp-level barrier made these accesses before it.
            const touch* const touches = &touches_[first_];
            std::uint32_t rest = instruction.active;
            if (shadow->has_cells_of(where.width) && !instruction.scattered) [[likely]] {
                rest = where.op == kLoad
                           ? note_untouched<kLoad>(instruction, shadow->cells(), by, touches, first_interval_)
                           : note_untouched<kStore>(instruction, shadow->cells(), by, touches, touch{});
            }
            if (rest != 0) [[unlikely]]
                check_shared(instruction, by, rest);
        } else {
            prefetch_next(instruction);
        }
        instruction.active = 0;
    }
}

void worker::tally_anew(warp_instruction& instruction) {
    instruction.tally.restart({instruction.addresses, instruction.active, instruction.where->width},
                              counted_by(instruction));
    instruction.tally.add(instruction.addresses, instruction.active);
}

inline std::uint32_t worker::lanes_of(unsigned warp) const { return warp + 1 < warps_ ? ~0u : last_lanes_; }

// Runs the warp, whose lanes have yet to begin or stand at the block's barrier, to the next.
[[gnu::always_inline]] inline void worker::run_warp(unsigned warp, bool fresh) {
    first_ = warp * kWarpSize;
    lanes_ = lanes_of(warp);
    finished_ = 0;
    starting_ = fresh;
    due_ = lanes_;
    do {
        const std::uintptr_t after =
            starting_ ? 0 : sync_sites_[first_ + static_cast<unsigned>(std::countr_zero(due_))];
        if (trace_->after != after) follow_trace(after);
        switch_fibers(hand_over(outside_, next_fiber()));
        if (fault_) raise(*fault_);
        settle_instructions();
        starting_ = false;
        due_ = at_warp_sync_ == 0 ? 0 : release_warp_syncs();
    } while (due_ != 0);
    ended_lanes_[warp] = finished_;
    ended_ |= finished_;
    waiting_ |= lanes_ & ~finished_;
}

// One function, with run_warp in it: a switch to another fiber leaves the processor's predictions of returns with those
// of that fiber, so the fewer functions this returns from, the better.
void worker::run_blocks(std::uint64_t& index, std::uint64_t end) {
    const extent3 grid = config_.grid;
    try {
        for (block_ = block_at(index, grid); index < end; ++index, block_ = block_after(block_, grid)) {
            begin_block();
            for (bool fresh = true;; fresh = false) {
                waiting_ = ended_ = 0;
                for (unsigned warp = 0; warp < warps_; ++warp) run_warp(warp, fresh);
                if (!unwritten_.empty()) check_unwritten();
                if (waiting_ == 0) break;
                release_barrier();
            }
        }
    } catch (...) {
        fault_.reset();
#if CORNERTURN_ANNOUNCE_FIBERS
        // The fibers are left in the middle of the kernel, with what they had marked out of bounds on their stacks.
        __asan_unpoison_memory_region(stacks_, kStacksBytes);
#endif
        unwritten_.clear();
        at_warp_sync_ = 0;
        for (const auto& instruction : trace_->owned) instruction->active = 0;
        throw;
    }
}

void worker::begin_block() {
    cornerturn_built_in.block_index = pack(block_.x, block_.y, block_.z);
    if (serial_ > touch::kMaxSerial / 2) {  // leaves the other half to this block
        static_shadow_.clear();
        dynamic_shadow_.clear();
        serial_ = 0;
    }
    interval_ = first_interval_ = touch::make(++serial_, 0, 0, 0);
    next_stack_ = beginnings_.data();
    if (warp_synced_) forget_warp_syncs();
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

// ---- Accesses -----------------------------------------------------------------------------------------------------

site& worker::find_site(std::uintptr_t return_address, unsigned width, direction op) {
    cache_entry& entry = site_cache_[return_address * 0x9e3779b97f4a7c15ull >> 56];
    if (entry.return_address == return_address) return *entry.found;
    const auto found =
        std::find_if(sites_.begin(), sites_.end(), [&](const site& s) { return s.return_address == return_address; });
    site* result = found != sites_.end() ? &*found : nullptr;
    if (result == nullptr) {
        result = &sites_.emplace_back();
        result->return_address = return_address;
        result->index = static_cast<unsigned>(sites_.size() - 1) % touch::kMaxSites;
        result->touch_bits = touch::make(0, 0, result->index, 0).bits;
        result->width = width;
        result->op = op;
    }
    entry = {return_address, result};
    return *result;
}

// The region that the access falls into and may touch; raises if there is none.
const region& worker::find_region(site& where, std::uintptr_t address) {
    const auto holds = [&](const region& r) {
        return address - r.begin < r.bytes && r.bytes - (address - r.begin) >= where.width;
    };
    if (where.where != nullptr && holds(*where.where)) return *where.where;
    const fault stray{hazard_kind::out_of_bounds, current_, address, where.width, where.op, where.return_address};
    const auto found =
        std::find_if(regions_.begin(), regions_.end(), [&](const region& r) { return address - r.begin < r.bytes; });
    if (found == regions_.end() || !holds(*found)) raise_from_fiber(stray);
    if (where.op == kStore && !found->writable) {
        raise_from_fiber({hazard_kind::read_only, current_, address, where.width, where.op, where.return_address});
    }
    where.where = &*found;
    return *found;
}

// The general case of access(): a local variable, or an instruction that is not the expected one, or elsewhere.
void worker::file_access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    if (current_worker != nullptr) current_worker->file(address, width, op, return_address);
}

void worker::file(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    const char* frame = static_cast<const char*>(__builtin_frame_address(0));
    if (frame < bottom_of(stack_of_[current_]) + kStackReserve) {
        raise_from_fiber({hazard_kind::stack_overflow, current_, 0, 0, op, return_address});
    }
    if (address - reinterpret_cast<std::uintptr_t>(stacks_) < kStacksBytes) return;  // a local variable
    site& where = find_site(return_address, width, op);
    const region& place = find_region(where, address);
    if ((address & (width - 1)) != 0) {
        raise_from_fiber({hazard_kind::misaligned, current_, address, width, op, return_address});
    }
    warp_instruction& instruction = find_instruction(where);
    if (instruction.active != 0 && instruction.place->space != place.space) {
        raise_from_fiber({hazard_kind::unsupported_access, current_, address, 0, op, return_address});
    }
    if (instruction.place != nullptr && instruction.place->space != place.space) count_tallied(instruction);
    instruction.scattered =
        instruction.active != 0 && (instruction.scattered || instruction.place->shadow != place.shadow);
    instruction.place = &place;
    instruction.region_begin = place.begin;
    instruction.region_span = place.bytes - width + 1;
    instruction.active |= running.bit;
    instruction.addresses[running.lane] = address;
}

// The instruction that the lane executes at this site, which is a new one if no lane has been here as often.
warp_instruction& worker::find_instruction(site& where) {
    std::vector<warp_instruction*>& expected = trace_->expected;
    const auto count_pass = [&](site& passed) {
        if (passed.lane_serial != lane_serial_) passed.passes = 0;
        passed.lane_serial = lane_serial_;
        return passed.passes++;
    };
    if (running.cursor != &expects_nothing) {
        if ((*running.cursor)->return_address == where.return_address) return **running.cursor++;
        ++lane_serial_;
        place_ = static_cast<std::size_t>(running.cursor - expected.data());
        for (std::size_t i = 0; i < place_; ++i) count_pass(*expected[i]->where);
        skipped_ = place_;
    }
    const std::size_t pass = count_pass(where);
    const auto begin = expected.begin(), end = expected.end() - 1, place = begin + static_cast<std::ptrdiff_t>(place_);
    const auto is = [&](std::size_t wanted) {
        return [&where, wanted](const warp_instruction* i) { return i->where == &where && i->pass == wanted; };
    };
    auto found = std::find_if(place, end, is(pass));
    if (found == end) {
        found = std::find_if(begin + static_cast<std::ptrdiff_t>(skipped_), place, is(pass));
        if (found == place) {
            // Behind what this lane has just executed, and behind the site's earlier passes.
            const auto earlier = pass > 0 ? std::find_if(place, end, is(pass - 1)) : end;
            trace_->owned.push_back(std::make_unique<warp_instruction>());
            warp_instruction* const added = trace_->owned.back().get();
            added->return_address = where.return_address;
            added->where = &where;
            added->pass = pass;
            found = expected.insert(earlier == end ? place : earlier + 1, added);
        }
    }
    const auto at = static_cast<std::size_t>(found - expected.begin());
    if (skipped_ == at) ++skipped_;
    place_ = at + 1;
    running.cursor = &expects_nothing;
    trace_begin_ = expected.data();
    return **found;
}

// Makes the trace that begins at this barrier the one to follow.
void worker::follow_trace(std::uintptr_t after) {
    trace* next = trace_->followed_by;
    if (next->after != after) {
        const auto found =
            std::find_if(traces_.begin(), traces_.end(), [&](const trace& t) { return t.after == after; });
        next = found != traces_.end() ? &*found : &traces_.emplace_back(after);
        trace_->followed_by = next;
    }
    trace_ = next;
    trace_begin_ = trace_->expected.data();
}

void worker::unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address) {
    if (address - reinterpret_cast<std::uintptr_t>(stacks_) < kStacksBytes) return;
    raise_from_fiber({hazard_kind::unsupported_access, current_, address, bytes, kLoad, return_address});
}

// What has been tallied of the instruction goes into its site's counters.
void worker::count_tallied(warp_instruction& instruction) {
    instruction.tally.take(instruction.where->width, counted_by(instruction));
}

void worker::count(const warp_instruction& instruction, const warp_access& access, std::uint64_t times) {
    const direction op = instruction.where->op;
    counters& counts = instruction.where->counts;
    if (instruction.place->space == region::global) {
        counts.global_requests[op] += times;
        counts.global_sectors[op] += times * count_sectors(access);
    } else {
        const unsigned wavefronts = wavefronts_.count(access, op);
        const unsigned least = least_wavefronts(access.active, access.width);
        counts.shared_requests[op] += times;
        counts.shared_wavefronts[op] += times * wavefronts;
        counts.shared_conflicts[op] += times * (wavefronts > least ? wavefronts - least : 0);
    }
    accesses_ += times * static_cast<unsigned>(std::popcount(access.active));
}

// The accesses of these lanes, where something is there to be looked at.
void worker::check_shared(const warp_instruction& instruction, touch by, std::uint32_t lanes) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uintptr_t address = instruction.addresses[lane];
        shadow_memory& shadow = shadow_of(address);
        const unsigned cells = shadow.cells_of(instruction.where->width);
        const touch now{by.bits | touches_[first_ + lane].bits};
        shadow_cell* const first = &shadow.cells()[address];
        for (unsigned i = 0; i < cells; ++i) check_cell(first[i], instruction, now, address);
    }
}

void worker::check_cell(shadow_cell& cell, const warp_instruction& instruction, touch now, std::uintptr_t address) {
    const site& where = *instruction.where;
    shadow_cell::rival rival{{}, true};
    if (where.op == kStore) {
        rival = cell.note_write(now);
    } else {
        if (cell.write.bits < first_interval_.bits) {
            unwritten_.push_back({now.thread(), where.index, instruction.place, address});
        }
        if (cell.note_read(now)) rival.who = cell.write;
    }
    if (rival.who.serial() != 0) [[unlikely]] {
        raise_race(instruction, now, rival);
    }
}

// ---- Barriers and shuffles ----------------------------------------------------------------------------------------

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

std::vector<worker::site_counts> worker::take_counts() {
    for (trace& t : traces_) {
        for (const auto& instruction : t.owned) count_tallied(*instruction);
    }
    std::vector<site_counts> result;
    for (site& s : sites_) {
        result.push_back({s.return_address, s.counts});
        s.counts = {};
    }
    return result;
}

}  // namespace cornerturn::emulator
