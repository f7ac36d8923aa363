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

constexpr std::uint32_t lane_mask(unsigned lanes) { return lanes == kWarpSize ? ~0u : (1u << lanes) - 1; }

}  // namespace

thread_local constinit worker* current_worker = nullptr;

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
#endif

worker::worker() {
    void* memory =
        mmap(nullptr, kStacksBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw error("the system has no memory for the emulator's stacks (17 MiB a core)");
    madvise(memory, kStacksBytes, MADV_HUGEPAGE);
    stacks_ = static_cast<char*>(memory);
}

worker::~worker() { munmap(stacks_, kStacksBytes); }

// ---- Fibers -------------------------------------------------------------------------------------------------------

void worker::fiber_main() {
    const worker& w = *current_worker;
    w.entry_(w.arguments_);
    __builtin_unreachable();
}

#if CORNERTURN_ANNOUNCE_FIBERS
void worker::announce(fiber& from, fiber& to) {
    const auto record_of = [&](fiber& f) -> announced& {
        return announced_[&f == &outside_ ? kMaxThreads : static_cast<std::size_t>(&f - fibers_.data())];
    };
    announced& left = record_of(from);
    announced& next = record_of(to);
    if (&to != &outside_) {
        next.bottom = stack_of(to);
        next.bytes = kStackBytes;
    }
    __sanitizer_start_switch_fiber(&left.fake_stack, next.bottom, next.bytes);
    __sanitizer_finish_switch_fiber(next.fake_stack, &left.bottom, &left.bytes);
}
#endif

void worker::raise_from_fiber(const fault& what) {
    fault_ = what;
    switch_fibers(hand_over(*fiber_of_[what.thread], outside_));
    __builtin_unreachable();  // the block's fibers are made anew
}

// ---- A launch, a block, a warp ------------------------------------------------------------------------------------

void worker::begin(const launch_config& config, kernel_entry entry, const void* arguments, const session& session) {
    config_ = config;
    entry_ = entry;
    arguments_ = arguments;
    threads_ = config.block.x * config.block.y * config.block.z;
    packed_block_dim_ = pack(config.block.x, config.block.y, config.block.z);
    packed_grid_dim_ = pack(config.grid.x, config.grid.y, config.grid.z);
    for (unsigned i = 0; i < threads_; ++i) {
        packed_thread_[i] =
            pack(i % config.block.x, i / config.block.x % config.block.y, i / config.block.x / config.block.y);
    }
    traces_.clear();
    trace_ = nullptr;
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

void worker::end() { current_worker = nullptr; }

void worker::run_block(extent3 block) {
    block_ = block;
    packed_block_ = pack(block.x, block.y, block.z);
    if (serial_ > touch::kMaxSerial / 2) {  // leaves the other half to this block
        static_shadow_.clear();
        dynamic_shadow_.clear();
        serial_ = 0;
    }
    block_first_serial_ = ++serial_;
    fibers_made_ = 0;
    for (unsigned warp = 0; warp * kWarpSize < threads_; ++warp) {
        warps_[warp] = {};
        warps_[warp].lanes = lane_mask(std::min(threads_ - warp * kWarpSize, unsigned{kWarpSize}));
    }
    std::fill_n(sync_sites_.begin(), threads_, 0);
    std::fill_n(warp_syncs_.begin(), threads_, 0);
    try {
        do {
            for (unsigned warp = 0; warp * kWarpSize < threads_; ++warp) run_warp(warp);
            check_unwritten();
        } while (release_barrier());
    } catch (...) {
        fault_.reset();
#if CORNERTURN_ANNOUNCE_FIBERS
        // The fibers are left in the middle of the kernel, with what they had marked out of bounds on their stacks.
        __asan_unpoison_memory_region(stacks_, kStacksBytes);
#endif
        unwritten_.clear();
        for (const auto& instruction : trace_->owned) instruction->active = 0;
        throw;
    }
}

void worker::run_warp(unsigned warp) {
    warp_ = &warps_[warp];
    first_ = warp * kWarpSize;
    for (;;) {
        due_ = warp_->lanes & ~(warp_->at_barrier | warp_->at_warp_sync | warp_->finished);
        if (due_ != 0) {
            follow_trace(sync_sites_[first_ + static_cast<unsigned>(std::countr_zero(due_))]);
            switch_fibers(hand_over(outside_, next_fiber()));
            if (fault_) raise(*fault_);
            settle_instructions();
        }
        if (warp_->at_warp_sync == 0) return;
        release_warp_syncs();
    }
}

// Lets the lanes go on whose masks' other lanes wait at a warp-level barrier too.
void worker::release_warp_syncs() {
    const std::uint32_t waiting = warp_->at_warp_sync;
    std::uint32_t released = 0;
    for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        const std::uint32_t mask = waits_[i].mask;
        bool agree = (mask & ~(waiting | warp_->finished)) == 0;
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
    warp_->at_warp_sync &= ~released;
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        if (++warp_syncs_[first_ + static_cast<unsigned>(std::countr_zero(rest))] == touch::kMaxWarpSyncs) {
            throw unsupported(fmt::format("{}: a warp with {} warp-level barriers in a block",
                                          function_name(config_.kernel), touch::kMaxWarpSyncs));
        }
    }
}

// After all warps stopped: opens the block's barrier, or returns false if every thread has finished.
bool worker::release_barrier() {
    const unsigned warps = (threads_ + kWarpSize - 1) / kWarpSize;
    unsigned first_waiting = threads_, first_finished = threads_;
    for (unsigned warp = warps; warp-- > 0;) {
        const warp_state& w = warps_[warp];
        if (w.at_barrier != 0) first_waiting = warp * kWarpSize + static_cast<unsigned>(std::countr_zero(w.at_barrier));
        if (w.finished != 0) first_finished = warp * kWarpSize + static_cast<unsigned>(std::countr_zero(w.finished));
    }
    if (first_waiting == threads_) return false;
    const std::uintptr_t barrier = sync_sites_[first_waiting];
    if (first_finished < threads_) {
        raise(hazard_kind::divergent_barrier, first_finished,
              fmt::format("ended without reaching the barrier of {}, where thread {} waits",
                          to_string(line_of(barrier)), name_of(first_waiting)));
    }
    for (unsigned i = 0; i < threads_; ++i) {
        if (sync_sites_[i] != barrier) {
            raise(hazard_kind::divergent_barrier, i,
                  fmt::format("waits at the barrier of {}, but thread {} at that of {}",
                              to_string(line_of(sync_sites_[i])), name_of(first_waiting), to_string(line_of(barrier))));
        }
    }
    for (unsigned warp = 0; warp < warps; ++warp) warps_[warp].at_barrier = 0;
    if (++serial_ == touch::kMaxSerial) {
        throw unsupported(fmt::format("{}: a block with more than {} barriers", function_name(config_.kernel),
                                      touch::kMaxSerial / 2));
    }
    return true;
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
    const char* frame = static_cast<const char*>(__builtin_frame_address(0));
    if (frame < stack_of(*fiber_of_[current_]) + kStackReserve) {
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
    if (instruction.place != nullptr && instruction.place->space != place.space) instruction.costs = {};
    instruction.place = &place;
    instruction.region_begin = place.begin;
    instruction.region_span = place.bytes - width + 1;
    instruction.active |= lane_bit_;
    instruction.addresses[lane_] = address;
}

// The instruction that the lane executes at this site, which is a new one if no lane has been here as often.
warp_instruction& worker::find_instruction(site& where) {
    std::vector<warp_instruction*>& expected = trace_->expected;
    const auto count_pass = [&](site& passed) {
        if (passed.lane_serial != lane_serial_) passed.passes = 0;
        passed.lane_serial = lane_serial_;
        return passed.passes++;
    };
    if (cursor_ != &strayed_) {
        if ((*cursor_)->return_address == where.return_address) return **cursor_++;
        ++lane_serial_;
        place_ = static_cast<std::size_t>(cursor_ - expected.data());
        for (std::size_t i = 0; i < place_; ++i) count_pass(*expected[i]->where);
    }
    const std::size_t pass = count_pass(where);
    const auto begin = expected.begin(), end = expected.end() - 1, place = begin + static_cast<std::ptrdiff_t>(place_);
    const auto is = [&](std::size_t wanted) {
        return [&where, wanted](const warp_instruction* i) { return i->where == &where && i->pass == wanted; };
    };
    auto found = std::find_if(place, end, is(pass));
    if (found == end) {
        found = std::find_if(begin, place, is(pass));
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
    place_ = static_cast<std::size_t>(found - expected.begin()) + 1;
    cursor_ = &strayed_;
    trace_begin_ = expected.data();
    return **found;
}

// Makes the trace that begins at this barrier the one to follow.
void worker::follow_trace(std::uintptr_t after) {
    if (trace_ != nullptr && trace_->after == after) return;
    const auto found = std::find_if(traces_.begin(), traces_.end(), [&](const auto& t) { return t->after == after; });
    trace_ = found != traces_.end() ? found->get() : traces_.emplace_back(std::make_unique<trace>(after)).get();
    trace_begin_ = trace_->expected.data();
}

void worker::unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address) {
    if (address - reinterpret_cast<std::uintptr_t>(stacks_) < kStacksBytes) return;
    raise_from_fiber({hazard_kind::unsupported_access, current_, address, bytes, kLoad, return_address});
}

// Counts and checks the instructions of the warp's lanes, all of which have stopped.
void worker::settle_instructions() {
    const std::vector<warp_instruction*>& executed = trace_->expected;
    for (std::size_t i = 0; i + 1 < executed.size(); ++i) {
        warp_instruction& instruction = *executed[i];
        if (instruction.active == 0) continue;
        count(instruction);
        if (instruction.place->space == region::shared) check_shared(instruction);
        instruction.active = 0;
    }
}

void worker::count(warp_instruction& instruction) {
    site& where = *instruction.where;
    const warp_access access{instruction.addresses, instruction.active, where.width};
    accesses_ += static_cast<unsigned>(std::popcount(access.active));
    if (instruction.place->space == region::global) {
        where.counts.global_requests[where.op] += 1;
        where.counts.global_sectors[where.op] += instruction.costs.of(access, count_sectors);
    } else {
        const unsigned wavefronts =
            instruction.costs.of(access, [&](const warp_access& a) { return wavefronts_.count(a, where.op); });
        const unsigned least = least_wavefronts(access.active, access.width);
        where.counts.shared_requests[where.op] += 1;
        where.counts.shared_wavefronts[where.op] += wavefronts;
        where.counts.shared_conflicts[where.op] += wavefronts > least ? wavefronts - least : 0;
    }
}

void worker::check_shared(const warp_instruction& instruction) {
    const site& where = *instruction.where;
    shadow_memory* shadow = instruction.place->shadow;
    unsigned count = shadow->cells_of(where.width);
    const std::uint64_t serial = serial_;
    const unsigned first = first_;  // the stores below could change members, for all that the compiler knows
    const std::uint64_t oldest_write = touch::make(where.op == kLoad ? block_first_serial_ : 0, 0, 0, 0).bits;
    touch shadow_cell::*const noted = where.op == kLoad ? &shadow_cell::read : &shadow_cell::write;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        // A lane that waits at a warp-level barrier made these accesses before it.
        const touch now = touch::make(serial, warp_syncs_[first + lane], where.index, first + lane);
        const std::uintptr_t address = instruction.addresses[lane];
        if (!shadow->covers(address)) [[unlikely]] {  // lanes in static and lanes in dynamic shared memory
            shadow = &shadow_of(address);
            count = shadow->cells_of(where.width);
        }
        shadow_cell* const cells = shadow->cell_at(address);
        for (unsigned i = 0; i < count; ++i) {
            // Mostly nobody has touched the cell since the barrier, and what is read was written before it.
            if (cells[i].untouched_before(now) && cells[i].write.bits >= oldest_write) [[likely]] {
                cells[i].*noted = now;
            } else {
                check_cell(cells[i], instruction, now, address);
            }
        }
    }
}

void worker::check_cell(shadow_cell& cell, const warp_instruction& instruction, touch now, std::uintptr_t address) {
    const site& where = *instruction.where;
    shadow_cell::rival rival{{}, true};
    if (where.op == kStore) {
        rival = cell.note_write(now);
    } else {
        if (cell.write.serial() < block_first_serial_) {
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
    waits_[lane_].source = -1;
    return wait_for_warp(mask, return_address);
}

handover worker::wait_for_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[lane_].mask = mask & warp_->lanes;  // no lanes that the block does not have
    if ((mask >> lane_ & 1) == 0) {
        raise_from_fiber({hazard_kind::divergent_barrier, current_, 0, 0, kLoad, return_address});
    }
    return stop_lane(warp_->at_warp_sync, return_address);
}

handover worker::shuffle(std::uint32_t mask, std::uint64_t value, int operand, int width, shuffle_kind kind,
                         std::uintptr_t return_address) {
    // PTX's shfl: segments of `width` lanes; a source outside the segment leaves the lane its own value.
    const int own = static_cast<int>(lane_);
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
    std::vector<site_counts> result;
    for (site& s : sites_) {
        result.push_back({s.return_address, s.counts});
        s.counts = {};
    }
    return result;
}

}  // namespace cornerturn::emulator
