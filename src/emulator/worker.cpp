#include "emulator/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace cornerturn::emulator {
namespace {

extent3 block_after(extent3 block, extent3 grid) {
    if (++block.x < grid.x) return block;
    block.x = 0;
    if (++block.y < grid.y) return block;
    return {0, 0, block.z + 1};
}

constexpr std::uint32_t lane_mask(unsigned lanes) { return lanes == kWarpSize ? ~0u : (1u << lanes) - 1; }

constinit trace_entry nothing{};

}  // namespace

constinit trace_entry nowhere{.next = &nothing};
thread_local constinit running_lane running{&nowhere, 0, 0, 0};
thread_local constinit worker* current_worker = nullptr;
extern "C" {
thread_local constinit index3 cornerturn_thread_index{}, cornerturn_block_index{}, cornerturn_block_dim{},
    cornerturn_grid_dim{};
}

worker::worker() { make_stacks(kKernelStackBytes); }

void worker::make_stacks(std::size_t kernel_bytes) {
    if (!stacks_.resize(kernel_bytes)) return;
    own_stack_ = 0;
    // A valid address for prefetches.
    for (fiber& f : fibers_) f.stack_pointer = stacks_.bottom_of(stacks_.first());
}

// ---- Fibers -------------------------------------------------------------------------------------------------------

void worker::fiber_main() {
    const worker& w = *current_worker;
    w.entry_(w.arguments_);
    __builtin_unreachable();
}

void worker::raise_from_fiber(const pending_hazard& what) {
    pending_ = what;
    switch_fibers(hand_over(fibers_[what.thread], outside_));
    __builtin_unreachable();  // the block's fibers never go on
}

// ---- A launch, a block, a warp ------------------------------------------------------------------------------------

void worker::begin(const launch_config& config, kernel_entry entry, const void* arguments, const emulation& emulation,
                   unsigned number, bool is_concurrent) {
    config_ = config;
    is_concurrent_ = is_concurrent;
    entry_ = entry;
    block_seconds_ = emulation.options_.block_seconds;
    keep_going_ = emulation.options_.keep_going;
    find_memory_ = emulation.options_.find_memory;
    describe_stray_ = emulation.options_.describe_stray;
    output_ = emulation.options_.prints_to_output ? stdout : stderr;
    races_.begin(number < global_touch::kMaxWorkers ? emulation.options_.races : nullptr, number);
    make_stacks(emulation.options_.stack_bytes);
    arguments_ = arguments;
    threads_ = config.block.x * config.block.y * config.block.z;
    warps_ = (threads_ + kWarpSize - 1) / kWarpSize;
    last_lanes_ = lane_mask(threads_ - (warps_ - 1) * kWarpSize);
    cornerturn_block_dim = {config.block.x, config.block.y, config.block.z};
    cornerturn_grid_dim = {config.grid.x, config.grid.y, config.grid.z};
    for (unsigned i = 0; i < threads_; ++i) {
        thread_index_[i] = {i % config.block.x, i / config.block.x % config.block.y,
                            i / config.block.x / config.block.y};
    }
    traces_.clear();
    spins_.forget();
    trace_ = &traces_.emplace_back(0);
    sites_.clear();
    site_cache_.fill({});
    resume_at_ = nullptr;
    calls_at_basic_blocks_ = false;
    stop_count_ = 0;
    accesses_ = 0;
    communicates_ = false;

    regions_.clear();
    by_address_.clear();
    for (const emulation::buffer& buffer : emulation.buffers_) {
        add_region({region::global, buffer.writable, buffer.begin, buffer.bytes, buffer.name, nullptr,
                    buffer.written.get(), true});
    }
    const byte_range segment = thread_local_segment();
    const auto add_shared = [&](std::uintptr_t begin, std::size_t bytes, const std::string& name,
                                shadow_memory& shadow) {
        add_region({region::shared, true, begin, bytes, name, &shadow, nullptr});
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
    fences_.forget();
    static_shadow_.cover(low < high ? low : 0, low < high ? high - low : 0);
    if (config.dynamic_shared_bytes > 0) {
        if (emulation.options_.dynamic_shared != nullptr) {
            dynamic_shared_ = emulation.options_.dynamic_shared();
        } else {
            if (own_dynamic_shared_ == nullptr)
                own_dynamic_shared_ = std::make_unique<bank_row[]>(kMaxShared / sizeof(bank_row));
            dynamic_shared_ = own_dynamic_shared_.get();
        }
        const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_shared_);
        add_shared(begin, config.dynamic_shared_bytes, "dynamic shared memory", dynamic_shadow_);
        dynamic_shadow_.cover(begin, config.dynamic_shared_bytes);
    }
    current_worker = this;
}

void worker::end() {
    races_.end();
    flush_printed();
    current_worker = nullptr;
    running.cursor = &nowhere;
}

namespace {

// Records the usual accesses: stores whose cell no thread has touched since the barrier, and loads of what the block
// wrote before it. Returns the other lanes. Each access has one cell. A separate function, so that its values stay in
// registers.
template <direction kOp>
[[gnu::noinline]] std::uint32_t note_untouched(const warp_instruction& instruction, shadow_memory::window cells,
                                               touch by, const touch* touches, touch oldest_write) {
    const std::uint64_t interval = by.bits & touch::kIntervalBits;
    const std::uint64_t* const addresses = instruction.addresses;
    std::uint32_t others = 0;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        shadow_cell& cell = cells[addresses[lane]];
        const bool is_read = cell.read.bits >= interval;
        touch now{by.bits | touches[lane].bits};
        if (cell.write.bits - oldest_write.bits >= interval - oldest_write.bits || (kOp == kStore && is_read)) {
            others |= rest & -rest;
        } else if constexpr (kOp == kLoad) {
            if (is_read) now.bits |= cell.other_readers(now);
            cell.read = now;
        } else {
            cell.write = now;
        }
    }
    return others;
}

}  // namespace

// Prefetches the next warp's accesses, assuming that addresses grow by the same amount from warp to warp.
inline void worker::prefetch_next(warp_instruction& instruction) {
    const std::uint64_t first = instruction.addresses[0], step = first - instruction.last_first;
    instruction.last_first = first;
    instruction.step = step;
    for (int lane = 0; lane < kWarpSize; lane += 8) {
        const void* const expected = reinterpret_cast<const void*>(instruction.addresses[lane] + step);
        __builtin_prefetch(expected, 1);
    }
}

// Checks the accesses of the active lanes for hazards.
[[gnu::always_inline]] inline void worker::check_instruction(warp_instruction& instruction) {
    const site& access_site = *instruction.site;
    if (access_site.op == kReduction || access_site.op == kAtomic) [[unlikely]] {
        note_atomic(instruction);
    } else if (shadow_memory* const shadow = instruction.memory->shadow; shadow != nullptr) {
        const touch by{interval_.bits | access_site.touch_bits};
        // A lane that waits at a warp-level barrier made these accesses before the barrier.
        const touch* const touches = &touches_[first_];
        std::uint32_t rest = instruction.active;
        if (shadow->has_cells_of(access_site.width) && !instruction.scattered) [[likely]] {
            rest = access_site.op == kLoad
                       ? note_untouched<kLoad>(instruction, shadow->cells(), by, touches, first_interval_)
                       : note_untouched<kStore>(instruction, shadow->cells(), by, touches, touch{});
        }
        if (rest != 0) [[unlikely]]
            check_shared(instruction, by, rest);
    } else {
        prefetch_next(instruction);
        if (races_.searching() && instruction.memory->space == region::global) check_global(instruction);
        if (instruction.memory->written != nullptr || instruction.scattered) check_written(instruction);
    }
}

// Checks the lanes that have not been checked yet.
void worker::check_rest(warp_instruction& instruction) {
    const std::uint32_t active = instruction.active;
    instruction.contiguous = false;  // not known of these lanes alone
    instruction.active &= ~instruction.checked;
    if (instruction.active != 0) check_instruction(instruction);
    instruction.active = instruction.checked = active;
}

// Checks the running lane's accesses to global memory before it executes a fence or may observe another's. It checks
// nothing else: another lane may have written an element that seems unwritten, in an earlier instruction.
void worker::check_pending() {
    const bool knows_place = !has_left_trace_ || calls_at_basic_blocks_;
    trace_entry* const from = knows_place ? checked_to_ : &trace_->begin;
    trace_entry* const to = !knows_place ? &trace_->end : running.cursor->ahead == 0 ? running.cursor : resume_at_;
    if (from == to) return;
    on_large_stack([&] {
        for (trace_entry* entry = from; entry != to;) {
            entry = entry->next;
            if (!entry->is_access) continue;
            auto& instruction = static_cast<warp_instruction&>(*entry);
            if ((instruction.active & ~instruction.checked) == 0 || instruction.memory->space != region::global ||
                instruction.memory->written != nullptr || instruction.scattered)
                continue;
            check_rest(instruction);
        }
    });
    checked_to_ = to;
}

[[gnu::always_inline]] inline void worker::settle_instruction(warp_instruction& instruction) {
    if (instruction.active == 0) return;
    if (!instruction.tally->add(instruction.addresses, instruction.active)) [[unlikely]]
        tally_anew(instruction);
    if (instruction.checked == 0) [[likely]]
        check_instruction(instruction);
    else
        check_rest(instruction);
    instruction.active = instruction.checked = 0;
}

// Counts and checks the warp's instructions. All of its lanes have stopped.
[[gnu::always_inline]] inline void worker::settle_instructions() {
    // If lanes have joined others, it is unknown how far these have come. So this goes to the end.
    unsigned going_on = joining_ ? ~0u : stop_count_;
    for (trace_entry* entry = &trace_->begin; entry != &trace_->end; entry = entry->next) {
        if (entry->is_access) settle_instruction(static_cast<warp_instruction&>(*entry));
        for (unsigned i = 0; i < stop_count_; ++i) going_on -= stops_[i] == entry;
        if (going_on == 0) break;
    }
    joining_ = false;
    stop_count_ = 0;
    disordered_ = 0;
}

// Some lanes wait for one another while others have gone on, or have ended. They may still meet, so they go on in the
// same trace. Their accesses are counted later, but checked now, while it is known which of the warp's barriers they
// came before. Returns false if the trace is so long that this would take most of the time.
bool worker::may_join(std::uint32_t together) {
    constexpr std::size_t kMost = 1 << 11;
    if (!calls_at_basic_blocks_ || (together & ~at_warp_sync_) == 0 || at_warp_sync_ == 0) return false;
    if ((at_warp_sync_ & ~together) != 0) return false;  // some wait in another trace
    if (trace_->owned.size() + trace_->basic_blocks.size() > kMost) return false;
    for (trace_entry* entry = trace_->begin.next; entry != &trace_->end; entry = entry->next) {
        if (!entry->is_access) continue;
        auto& instruction = static_cast<warp_instruction&>(*entry);
        if ((instruction.active & ~instruction.checked) != 0) check_rest(instruction);
    }
    stop_count_ = 0;
    return true;
}

// Runs the warp's due lanes, and the lanes that they release, until none can go on.
[[gnu::always_inline]] inline void worker::run_due(unsigned warp) {
    std::uint32_t together = 0;  // lanes that follow the trace
    do {
        if (!joining_) [[likely]] {
            together = due_;
            const std::uintptr_t after =
                starting_ ? 0 : sync_sites_[first_ + static_cast<unsigned>(std::countr_zero(due_))];
            if (trace_->after != after) follow_trace(after);
        }
        switch_fibers(hand_over(outside_, next_fiber()));
        while (large_stack_call_.run != nullptr) {
            run_large_stack_call();
            switch_fibers(hand_over(outside_, fibers_[current_]));
        }
        if (pending_) raise(*pending_);
        starting_ = false;
        if (may_join(together)) [[unlikely]] {
            joining_ = true;
            due_ = release_warp_syncs();
            if (due_ != 0) continue;
        }
        if (watched_ != nullptr && warp == 0) [[unlikely]]
            note_watched();
        settle_instructions();
        if (due_ == 0) due_ = at_warp_sync_ == 0 ? 0 : release_warp_syncs();
    } while (due_ != 0);
    ended_lanes_[warp] = warp_ended_;
}

// Runs the warp to the block's next barrier. Its lanes have not begun (`fresh`), or wait at the block's barrier.
[[gnu::always_inline]] inline void worker::run_warp(unsigned warp, bool fresh) {
    first_ = warp * kWarpSize;
    lanes_ = lanes_of(warp);
    warp_ended_ = ended_before_[warp];
    starting_ = fresh;
    due_ = lanes_ & ~warp_ended_;
    if (due_ != 0) run_due(warp);
    some_ended_ |= warp_ended_ & ~ended_before_[warp];
    some_wait_ |= lanes_ & ~warp_ended_;
}

// Resumes a warp whose lanes yielded.
void worker::resume_warp(unsigned warp) {
    first_ = warp * kWarpSize;
    lanes_ = lanes_of(warp);
    warp_ended_ = ended_lanes_[warp];
    starting_ = false;
    due_ = yielded_[warp];
    at_warp_sync_ = suspended_[warp];
    run_due(warp);
}

// Runs the block's warps to its barrier, or to their end. After a switch, the processor predicts returns for the other
// fiber. Each function that returns here costs a wrong prediction, so run_warp() is inlined.
[[gnu::always_inline]] inline void worker::run_to_barrier(bool fresh) {
    some_wait_ = some_ended_ = 0;
    for (unsigned warp = 0; warp < warps_; ++warp) run_warp(warp, fresh);
    if (yielding_ != 0) [[unlikely]]
        run_yielded();
    if (!unwritten_.empty()) check_unwritten();
    if (!divisions_.empty()) [[unlikely]]
        check_divisions();
}

void worker::run_blocks(std::uint64_t& index, std::uint64_t end) {
    const extent3 grid = config_.grid;
    try {
        for (block_ = block_at(index, grid); index < end; ++index, block_ = block_after(block_, grid)) {
            begin_block();
            for (bool fresh = true;; fresh = false) {
                run_to_barrier(fresh);
                if (some_wait_ == 0) break;
                release_barrier();
            }
        }
    } catch (...) {
        abandon_block();
        throw;
    }
}

void worker::abandon_block() {
    pending_.reset();
    // The fibers were left inside the kernel.
    stacks_.unmark();
    unwritten_.clear();
    divisions_.clear();
    at_warp_sync_ = 0;
    yielding_ = 0;
    grid_barrier_ = 0;
    block_count_ = 0;
    counts_values_ = false;
    is_volatile_ = false;
    stop_count_ = 0;
    disordered_ = 0;
    joining_ = false;
    for (const auto& instruction : trace_->owned) instruction->active = instruction->checked = 0;
}

template <class Copy>
void worker::copy_shared(Copy copy) {
    std::size_t at = 0;
    for (const region& memory : regions_) {
        if (memory.space != region::shared) continue;
        saved_shared_.resize(std::max(saved_shared_.size(), at + memory.bytes));
        copy(reinterpret_cast<std::byte*>(memory.begin), saved_shared_.data() + at, memory.bytes);
        at += memory.bytes;
    }
}

bool worker::run_part(std::uint64_t index, bool begins) {
    current_worker = this;
    try {
        if (begins) {
            block_ = block_at(index, config_.grid);
            begin_block();
        } else {
            copy_shared(
                [](std::byte* memory, const std::byte* kept, std::size_t bytes) { std::memcpy(memory, kept, bytes); });
            cornerturn_block_index = {block_.x, block_.y, block_.z};
            grid_barrier_ = 0;
            races_.acquire();
            release_barrier();
        }
        for (bool fresh = begins;; fresh = false) {
            run_to_barrier(fresh);
            if (some_wait_ == 0) return true;
            if (grid_barrier_ != 0) break;
            release_barrier();
        }
    } catch (...) {
        abandon_block();
        throw;
    }
    races_.fence();  // the grid's barrier orders blocks
    copy_shared([](const std::byte* memory, std::byte* kept, std::size_t bytes) { std::memcpy(kept, memory, bytes); });
    return false;
}

std::vector<watched_access> worker::watch_block(std::uint64_t index) {
    std::vector<watched_access> seen;
    last_watched_.clear();
    watched_ = &seen;
    try {
        run_blocks(index, index + 1);
    } catch (...) {
        watched_ = nullptr;
        throw;
    }
    watched_ = nullptr;
    return seen;
}

void worker::begin_block() {
    ++blocks_begun_;
    time_over_ = false;
    cornerturn_block_index = {block_.x, block_.y, block_.z};
    if (serial_ > touch::kMaxSerial / 2) {  // the other half is for this block
        static_shadow_.clear();
        dynamic_shadow_.clear();
        serial_ = 0;
        fences_.forget();
    }
    interval_ = first_interval_ = touch::make(++serial_, 0, 0, 0);
    races_.begin_block(index_of(block_, config_.grid));
    next_stack_ = stacks_.first();
    if (some_ended_before_) ended_before_.fill(0);
    some_ended_before_ = false;
    if (warp_synced_) forget_warp_syncs();
    if (some_copies_) {
        for (copies_under_way& of_thread : copies_) of_thread.forget();
        some_copies_ = false;
    }
}

}  // namespace cornerturn::emulator
