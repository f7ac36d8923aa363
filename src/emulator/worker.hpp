// One OS thread's share of an emulated launch. It runs whole blocks, with a fiber for each CUDA thread, and counts.
//
// A warp's lanes run one after the other up to their next barrier. Every memory access calls the worker (callbacks.cpp)
// and joins a warp instruction, or becomes a new one, in the order of execution on the hardware: if lanes are at
// different places, those at the lowest address in the code go on first, until all are together again. Each basic block
// calls the worker, too, when it begins, so that lanes also wait for one another at the end of a loop's body. The
// library's own kernels are compiled without these calls, for speed. In such code, lanes count as together if they have
// passed a call site the same number of times since the barrier. When the last lane stops, the instructions are counted
// and checked, and the next warp runs.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cornerturn/emulator/fiber.hpp"
#include "emulator/copies.hpp"
#include "emulator/counters.hpp"
#include "emulator/emulation.hpp"
#include "emulator/fences.hpp"
#include "emulator/races.hpp"
#include "emulator/shadow.hpp"
#include "emulator/spin_watch.hpp"
#include "emulator/stacks.hpp"
#include "emulator/symbols.hpp"
#include "emulator/warp_trace.hpp"

namespace cornerturn::emulator {

// The number of a block in its grid, counted along x first.
constexpr std::uint64_t index_of(extent3 block, extent3 grid) {
    return block.x + std::uint64_t{grid.x} * (block.y + std::uint64_t{grid.y} * block.z);
}
constexpr extent3 block_at(std::uint64_t index, extent3 grid) {
    return {static_cast<unsigned>(index % grid.x), static_cast<unsigned>(index / grid.x % grid.y),
            static_cast<unsigned>(index / grid.x / grid.y)};
}

inline constexpr double kSpinSeconds = 5;                  // how long a block's threads may spin without progress
inline constexpr std::size_t kMaxStaticShared = 48 << 10;  // the most static shared memory of a block

// The state of the running lane that every access needs. It is thread-local, so callbacks reach it at once.
struct running_lane {
    // The lane's position in the trace: it should go on with the next entry. An OS thread that runs no lane is at
    // `nowhere`, whose next entry matches nothing.
    trace_entry* cursor;
    std::uint64_t lane;  // within the warp
    std::uint32_t bit;
    std::uint32_t depth;  // of calls to functions that are not inlined
};
extern trace_entry nowhere;
[[gnu::tls_model("local-exec")]] extern thread_local constinit running_lane running;
extern "C" {
[[gnu::tls_model("local-exec")]] extern thread_local constinit index3 cornerturn_thread_index, cornerturn_block_index,
    cornerturn_block_dim, cornerturn_grid_dim;
}

// A call that run_blocks() makes for a fiber before the fiber's lane goes on.
struct large_stack_call {
    void (*run)(void* what) = nullptr;
    void* what = nullptr;
};

class worker {
public:
    worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // Prepares for a launch on the calling OS thread, which must then make all the calls below. `number`: of the worker
    // in this launch. `is_concurrent`: other workers run blocks of it at the same time.
    void begin(const launch_config& config, kernel_entry entry, const void* arguments, const emulation& emulation,
               unsigned number, bool is_concurrent);
    void end();

    // Runs the blocks `index` to `end` of the grid, and moves `index`. Throws hazard; `index` is then the block's
    // number.
    void run_blocks(std::uint64_t& index, std::uint64_t end);

    // Runs a part of the one block that this worker has in a cooperative launch: to the block's end, or to where its
    // threads wait for the other blocks. The block's shared memory is saved between two parts, since other workers on
    // this OS thread use the same memory. Returns whether the block has ended. Throws hazard.
    bool run_part(std::uint64_t index, bool begins);
    void abandon_block();  // ends the block, which cannot be completed
    // Called when the block's time is over while its threads wait for the other blocks.
    [[noreturn]] void raise_waiting_too_long();
    // Reports that another block has ended. It can never reach the grid's barrier at which this block waits.
    void report_block_ended(std::uint64_t ended);

    // Runs one block and returns the accesses of its warp 0.
    std::vector<watched_access> watch_block(std::uint64_t index);

    // Returns the counters since the last call, by site, and resets them.
    struct site_counts {
        std::uintptr_t return_address;
        counters counts;
        bool operator==(const site_counts&) const = default;
    };
    std::vector<site_counts> take_counts();
    std::uint64_t accesses() const { return accesses_; }  // up to the last take_counts()

    // The kernel calls the following functions, on a fiber.
    static void access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
        // Lanes mostly do the same as those before them, in the same order.
        trace_entry& next = *running.cursor->next;
        if (next.return_address == return_address && address - next.region_begin < next.region_span &&
            (address & (width - 1)) == 0) [[likely]] {
            running.cursor = &next;
            next.fetch_later(running.lane);
            auto& instruction = static_cast<warp_instruction&>(next);
            instruction.active |= running.bit;
            instruction.addresses[running.lane] = address;
            return;
        }
        slow_access(address, width, op, return_address);
    }
    static void begin_basic_block(std::uintptr_t return_address) {
        trace_entry& next = *running.cursor->next;
        if (next.return_address == return_address) [[likely]] {
            running.cursor = &next;
            next.fetch_later(running.lane);
        } else {
            slow_basic_block(return_address);
        }
    }
    copies_under_way& copies() {
        some_copies_ = true;
        return copies_[current_];
    }
    // The kernel returned. True if the next lane can start on this lane's stack.
    bool end_lane() {
        note_stop();
        warp_ended_ |= running.bit;
        if (!starting_ || due_ == 0) return false;
        fiber* const stack = stack_of_[current_];
        begin_lane();
        stack_of_[current_] = stack;
        return true;
    }
    fiber& leave_fiber() {
        fiber& next = due_ == 0 ? outside_ : waiting_fiber();
        announce(next);
        return next;
    }
    handover sync_threads(std::uintptr_t return_address) { return stop_lane(return_address); }
    handover sync_threads_count(bool value, std::uintptr_t return_address);
    handover sync_grid(std::uintptr_t return_address) {
        if (!config_.cooperative)
            raise_from_fiber({hazard_kind::divergent_barrier, current_, 0, 0, kLoad, return_address, "grid"});
        grid_barrier_ = return_address;
        return stop_lane(return_address);
    }
    bool is_cooperative() const { return config_.cooperative; }
    handover sync_warp(std::uint32_t mask, std::uintptr_t return_address);
    handover exchange(std::uint32_t mask, std::uint64_t value, exchange_kind kind, int operand, int width,
                      std::uintptr_t return_address);
    handover active_lanes(std::uintptr_t return_address);
    handover yield(std::uintptr_t return_address);
    std::uint64_t received() const { return waits_[current_].received; }
    void access_range(std::uintptr_t address, std::size_t bytes, direction op, std::uintptr_t return_address);
    void access_unaligned(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address);
    void unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address);
    void index_outside(std::int64_t index, const char* type, std::uintptr_t return_address);
    int print(const char* format, std::va_list& arguments);

    void* dynamic_shared() const { return dynamic_shared_; }
    void fence() {
        if (races_.searching()) check_pending();
        fences_.fence(current_, serial_);
        communicates_ = true;
        races_.fence();
    }
    void access_volatile(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
        if (op == kLoad) note_acquire();
        is_volatile_ = true;
        access(address, width, op, return_address);
        is_volatile_ = false;
        if (is_concurrent_ && op == kLoad) note_seen(address, width, return_address);
    }
    void atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected,
                std::uintptr_t return_address);
    std::uint64_t atomic_old() {
        if (last_atomic_->op == kReduction) last_atomic_->op = kAtomic;
        return old_value_;
    }
    void atomic_add_floats(float* address, unsigned count, std::array<std::uint64_t, 2> values,
                           std::uintptr_t return_address);
    std::uint64_t atomic_old_floats(unsigned pair) {
        if (last_atomic_->op == kReduction) last_atomic_->op = kAtomic;
        return old_floats_[pair];
    }
    bool is_in(region::kind space, std::uintptr_t address) const {
        const region* const found = region_at(address);
        return found != nullptr && found->space == space;
    }
    // Calls f() on the OS thread's own stack, since a fiber's is small.
    template <class F>
    void on_large_stack(F f) {
        large_stack_call_ = {[](void* what) { (*static_cast<F*>(what))(); }, &f};
        switch_fibers(hand_over(fibers_[current_], outside_));
        large_stack_call_ = {};  // already empty; but g++ warns that the pointer outlives `f`
    }
    [[noreturn]] void fail_assertion(std::uintptr_t return_address) {
        raise_from_fiber({hazard_kind::assertion, current_, 0, 0, kLoad, return_address});
    }
    [[noreturn]] void trap(std::uintptr_t return_address) {
        raise_from_fiber({hazard_kind::trap, current_, 0, 0, kLoad, return_address});
    }
    index3 running_thread() const { return thread_index_[current_]; }
    extent3 running_block() const { return block_; }
    [[noreturn]] void refuse(const char* feature, std::uintptr_t return_address);
    // Whether a thread of the launch has executed an atomic, a fence or a volatile load, has printed, or has launched a
    // kernel. Others may observe these before the launch ends.
    bool communicates() const { return communicates_; }
    void note_communication() { communicates_ = true; }
    // Adds the hazards since the last call to `all`, and forgets them.
    void take_hazards(std::vector<found_hazard>& all);

    // For signal handlers, on this OS thread.
    std::uint64_t blocks_begun() const { return blocks_begun_; }  // of all launches
    void end_time() { time_over_ = true; }                        // of the block
    // Whether the address is on the stack of a kernel.
    bool has_on_stack(std::uintptr_t address) const { return stacks_.hold(address); }
    // Whether the address is in the inaccessible memory below all stacks.
    bool is_in_guard(std::uintptr_t address) const { return stacks_.is_in_guard(address); }
    bool keeps_going() const { return keep_going_; }
    // Records that the kernel divided by zero at `pc`. It goes on.
    void note_division(std::uintptr_t pc);
    // The kernel has raised this hazard at `pc`. Afterwards leave_kernel() must be called on the stack that ends at
    // stack_top().
    void set_pending_hazard(hazard_kind kind, std::uintptr_t pc) { pending_ = {kind, current_, 0, 0, kLoad, pc + 1}; }
    std::uintptr_t stack_top() const {
        return reinterpret_cast<std::uintptr_t>(stacks_.bottom_of(stack_of_[current_])) + stacks_.bytes();
    }
    [[noreturn]] void leave_kernel() { raise_from_fiber(*pending_); }

private:
    // A lane's wait at a warp-level barrier.
    struct warp_wait {
        enum : std::uint8_t { barrier, exchange, active_lanes, yield } what = barrier;
        exchange_kind kind{};
        std::uint32_t mask = 0;
        int source = 0;  // of a shuffle: the lane that it reads
        std::uint64_t offered = 0, received = 0;
    };

    // A hazard found while a fiber ran. It is raised once control is back in run_blocks().
    struct pending_hazard {
        hazard_kind kind;
        unsigned thread;
        std::uintptr_t address = 0;
        std::size_t width = 0;  // bytes
        direction op = kLoad;
        std::uintptr_t return_address = 0;
        // out_of_bounds: the type of the array, or null if the address is out of bounds, not an array's index.
        // unsupported_feature: the feature.
        // divergent_barrier: "grid", or null for a warp-level barrier.
        const char* detail = nullptr;
        std::int64_t index = 0;         // out_of_bounds: of the array
        std::size_t held_accesses = 0;  // endless_loop: since the last barrier; 0: the block's time is over
    };

    static void fiber_main();

    // Makes the first due lane the running one.
    void begin_lane() {
        const auto lane = static_cast<unsigned>(std::countr_zero(due_));
        const std::uint32_t rest = due_ & (due_ - 1);
        has_left_trace_ = false;
        current_ = first_ + lane;
        running = {joining_ ? stopped_at_[lane] : &trace_->begin, lane, due_ ^ rest, starting_ ? 0 : depths_[current_]};
        checked_to_ = running.cursor;
        due_ = rest;
        cornerturn_thread_index = thread_index_[current_];
    }

    // The next lane's fiber: a new one on the next stack, or the one where the lane waits.
    fiber& new_fiber() {
        begin_lane();
        fiber* const stack = stack_of_[current_] = next_stack_++;
        return stacks_.beginning_on(stack);
    }
    fiber& waiting_fiber() {
        begin_lane();
        if (threads_ > kStacksInCache) {
            // Prefetches the part of its stack to which the lane after next returns.
            const char* const top = static_cast<const char*>(fibers_[(current_ + 2) % kMaxThreads].stack_pointer);
            for (std::size_t line = 0; line < kLinesFilled; ++line) __builtin_prefetch(top + line * kLineBytes, 1);
        }
        return fibers_[current_];
    }
    void make_stacks(std::size_t kernel_bytes);
    fiber& next_fiber() { return due_ == 0 ? outside_ : starting_ ? new_fiber() : waiting_fiber(); }

    void announce([[maybe_unused]] const fiber& to) {
#if CORNERTURN_ANNOUNCE_FIBERS
        const bool waits = &to >= fibers_.begin() && &to < fibers_.end();  // a waiting thread, on its stack
        stacks_.announce(&to == &outside_ ? nullptr : waits ? stack_of_[&to - fibers_.data()] : &to);
#endif
    }

    // The handover that the caller is about to make.
    handover hand_over(fiber& from, fiber& to) {
        announce(to);
        return {&from, &to};
    }

    handover stop_lane(std::uintptr_t return_address) {
        note_stop();
        sync_sites_[current_] = return_address;
        fiber& own = fibers_[current_];
        return hand_over(own, next_fiber());
    }
    [[noreturn]] void raise_from_fiber(const pending_hazard& what);

    void run_large_stack_call() {
        const large_stack_call todo = large_stack_call_;
        large_stack_call_ = {};
        todo.run(todo.what);
    }

    void begin_block();
    std::uint32_t lanes_of(unsigned warp) const { return warp + 1 < warps_ ? ~0u : last_lanes_; }
    void run_due(unsigned warp);
    void run_warp(unsigned warp, bool fresh);
    void resume_warp(unsigned warp);
    handover wait_for_warp(std::uint32_t mask, std::uintptr_t return_address);
    std::uint32_t release_warp_syncs();
    std::uint32_t lanes_that_agree() const;
    std::uint32_t lanes_together();
    void finish_exchange(unsigned thread, std::uint32_t released);
    void run_to_barrier(bool fresh);
    void run_yielded();
    template <class Copy>
    void copy_shared(Copy copy);
    [[noreturn]] void raise_spinning();
    void forget_warp_syncs();
    void release_barrier();
    void begin_interval();
    void report_ended_early();
    unsigned first_waiting() const;
    bool had_ended(unsigned thread) const { return (ended_before_[thread / kWarpSize] >> thread % kWarpSize & 1) != 0; }
    [[gnu::noinline]] static void slow_access(std::uintptr_t address, unsigned width, direction op,
                                              std::uintptr_t return_address);
    [[gnu::noinline]] static void slow_basic_block(std::uintptr_t return_address);
    void check_still_running(direction op, std::uintptr_t return_address);
    void check_running(std::uintptr_t return_address);
    void add_access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address);
    void find_basic_block(std::uintptr_t return_address);
    void go_ahead(std::uintptr_t return_address, std::size_t known);
    void enter_basic_blocks_ahead();
    // Records the running lane's position in the trace. The lane stops.
    void note_stop() {
        if (running.cursor->ahead != 0) running.cursor = resume_at_;
        if (has_left_trace_) running.cursor = &trace_->end;
        stopped_at_[running.lane] = running.cursor;
        depths_[current_] = running.depth;
        if (stop_count_ > 0 && stops_[stop_count_ - 1] == running.cursor) return;
        stops_[stop_count_++] = running.cursor;
    }
    site& find_site(std::uintptr_t return_address, unsigned width, direction op);
    const region* region_at(std::uintptr_t address) const;
    void add_region(region added);
    std::string describe(const pending_hazard& what) const;
    bool add_variable_at(std::uintptr_t address, std::uintptr_t return_address);
    const region& find_region(site& access_site, std::uintptr_t address);
    warp_instruction& find_instruction(site& access_site, const region& memory);
    warp_instruction& find_instruction_by_executions(site& access_site);
    warp_instruction& add_instruction(site& access_site, trace_entry* predecessor);
    bool has_stored(unsigned lane, std::uintptr_t address, unsigned width) const;
    void require_room(const site& access_site);
    void follow_trace(std::uintptr_t after);
    void check_instruction(warp_instruction& instruction);
    void check_rest(warp_instruction& instruction);
    void check_pending();
    bool may_join(std::uint32_t together);
    void settle_instruction(warp_instruction& instruction);
    void settle_instructions();
    void note_watched();
    void count(const warp_instruction& instruction, const warp_access& access, std::uint64_t times);
    void count_atomic(const warp_instruction& instruction, const warp_access& access, std::uint64_t times);
    auto counted_by(const warp_instruction& instruction) {
        return
            [this, &instruction](const warp_access& access, std::uint64_t times) { count(instruction, access, times); };
    }
    static void prefetch_next(warp_instruction& instruction);
    void count_tallied(warp_instruction& instruction);
    void tally_anew(warp_instruction& instruction);
    void check_shared(const warp_instruction& instruction, touch by, std::uint32_t lanes);
    void check_written(const warp_instruction& instruction);
    void check_global(const warp_instruction& instruction);
    global_shadow* shadow_of(const region& memory, unsigned width);
    void check_global_cells(const warp_instruction& instruction, unsigned lane, global_shadow& shadow,
                            std::uint64_t by);
    void note_atomic(const warp_instruction& instruction);
    // An atomic or a volatile load, which may observe what another thread did before a fence.
    void note_acquire() {
        if (races_.searching() && !races_.has_acquired()) check_pending();
        fences_.observe(current_, serial_);
        communicates_ = true;
        races_.acquire();
    }
    void note_seen(std::uintptr_t address, unsigned width, std::uintptr_t return_address);
    void note_value(std::uintptr_t address, std::uint64_t value, std::uintptr_t return_address);
    void flush_printed();
    void check_cell(shadow_cell& cell, const warp_instruction& instruction, touch now, std::uintptr_t address);

    void report_race(const warp_instruction& instruction, touch now, const shadow_cell::rival& rival);
    void report_global_race(const warp_instruction& instruction, unsigned lane, const block_races::rival& rival);
    [[noreturn]] void raise(const pending_hazard& what);
    [[noreturn]] void raise(hazard_kind kind, unsigned thread, const std::string& what);
    // A hazard after which the kernel can go on. Raises it, or records it if the emulation keeps going: the first one
    // of each kind and site, and how many there were. `describe` returns the message.
    template <class Describe>
    void report_hazard(hazard_kind kind, unsigned thread, std::uintptr_t return_address, Describe describe) {
        if (!keep_going_) raise(kind, thread, describe());
        reported_hazard& found = reported_[{kind, return_address}];
        if (found.times++ == 0) found.message = message_of(thread, describe());
    }
    std::string message_of(unsigned thread, const std::string& what) const;
    void check_unwritten();
    void check_divisions();
    shadow_memory& shadow_of(std::uintptr_t address) {
        return static_shadow_.covers(address) ? static_shadow_ : dynamic_shadow_;
    }
    std::string describe_stray(const pending_hazard& what) const;
    std::string name_of(unsigned thread) const;
    std::string line_of_site(unsigned index) const;

    // Fixed for the launch.
    launch_config config_;
    kernel_entry entry_ = nullptr;
    const void* arguments_ = nullptr;
    unsigned threads_ = 0, warps_ = 0;
    std::uint32_t last_lanes_ = 0;  // lanes of the last warp
    std::array<index3, kMaxThreads> thread_index_{};
    std::deque<region> regions_;
    std::vector<const region*> by_address_;

    // A lane that ends without waiting leaves its stack to the next lane. So kernels without barriers use one stack.
    kernel_stacks stacks_{&fiber_main};
    fiber* next_stack_ = nullptr;                 // no thread of this block has used it
    std::array<fiber*, kMaxThreads> stack_of_{};  // each thread's stack
    std::uintptr_t own_stack_ = 0;                // lowest byte of the stack that was looked up last
    std::array<fiber, kMaxThreads> fibers_{};     // the waiting threads' fibers
    fiber outside_{};                             // run_blocks()

    // The block being run.
    extent3 block_;
    std::array<std::uint32_t, kMaxWarps> ended_lanes_{};   // lanes of each warp that have ended
    std::array<std::uint32_t, kMaxWarps> ended_before_{};  // the same, before this barrier interval
    std::uint32_t some_ended_ = 0, some_wait_ = 0;         // not 0 if threads ended, or wait, in this interval
    bool some_ended_before_ = false;
    unsigned block_count_ = 0;  // nonzero values at the block's barrier
    bool counts_values_ = false;
    std::uintptr_t grid_barrier_ = 0;                       // the grid barrier that a thread has reached; 0: none
    std::vector<std::byte> saved_shared_;                   // memory of a block between its parts
    std::array<std::uint32_t, kMaxThreads> depths_{};       // the call depth at which each thread waits
    std::array<std::uintptr_t, kMaxThreads> sync_sites_{};  // the last barrier of each thread
    std::array<touch, kMaxThreads> touches_{};              // each thread's number and warp-level barriers
    bool warp_synced_ = true;                               // some thread has passed one, or touches_ is not set yet
    block_fences fences_;
    std::array<warp_wait, kMaxThreads> waits_;
    std::array<std::uint32_t, kMaxWarps> yielded_{}, suspended_{};  // lanes that yielded; lanes that wait for them
    std::uint32_t yielding_ = 0;                                    // a bit for each warp that has yielded lanes
    std::uint64_t serial_ = 0;                                      // barrier intervals, over all blocks
    touch interval_, first_interval_;                               // this one, and the block's first
    std::uint64_t blocks_begun_ = 0;                                // of all launches
    std::optional<pending_hazard> pending_;
    volatile bool time_over_ = false;  // the block's time is over; set by a signal handler
    large_stack_call large_stack_call_;
    bool keep_going_ = false;
    std::optional<found_memory> (*find_memory_)(std::uintptr_t address) = nullptr;
    std::string (*describe_stray_)(std::uintptr_t address) = nullptr;
    struct reported_hazard {
        std::string message;
        std::uint64_t times = 0;
    };
    std::map<std::pair<hazard_kind, std::uintptr_t>, reported_hazard> reported_;  // by kind and return address
    std::map<std::uintptr_t, bool> may_be_shared_row_;  // of the indexed array, by return address
    double block_seconds_ = 0;                          // time limit of a block
    std::string printed_;                               // by the kernel, not written yet: an unfinished line
    // A read of shared memory that seems unwritten. It is raised at the end of its barrier interval: if another thread
    // writes in the interval, it is a race; if the same thread does, the write may have come first.
    struct unwritten_read {
        unsigned thread, site;
        const region* memory;
        std::uintptr_t address;
    };
    std::vector<unwritten_read> unwritten_;
    block_races races_;  // in global memory
    bool communicates_ = false;
    // Divisions by zero since the last barrier.
    struct division {
        std::uintptr_t pc;
        unsigned thread;  // the first
        std::uint64_t times;
    };
    std::vector<division> divisions_;

    // The warp being run, the lane being run, and the lanes to run after it.
    bool starting_ = false;         // the warp's lanes have not begun
    std::uint32_t lanes_ = 0;       // lanes of the running warp
    std::uint32_t warp_ended_ = 0;  // lanes of the running warp that have ended
    std::uint32_t at_warp_sync_ = 0;
    unsigned first_ = 0;     // the warp's first thread
    unsigned current_ = 0;   // within the block
    std::uint32_t due_ = 0;  // the lanes to run after it

    std::deque<site> sites_;
    bool is_volatile_ = false;  // the current access
    struct cache_entry {
        std::uintptr_t return_address = 0;
        site* found = nullptr;
    };
    std::array<cache_entry, 256> site_cache_;
    bool calls_at_basic_blocks_ = false;  // the kernel's code calls the worker at basic blocks
    // If it does not: whether the running lane has left the trace. If so, its position there, and the last entry up to
    // which it has executed all.
    bool has_left_trace_ = false;
    trace_entry *position_ = nullptr, *complete_to_ = nullptr;
    std::uint64_t lane_serial_ = 0;
    std::uint32_t disordered_ = 0;  // lanes whose instructions do not follow the trace's order
    // Basic blocks that were not found near `resume_at_` in the trace. Up to the cursor: those that the running lane
    // has begun since `resume_at_`. After the cursor: those that an earlier lane began next. This lane may reuse them.
    std::deque<trace_entry> ahead_;
    trace_entry *first_ahead_ = nullptr, *resume_at_ = nullptr;
    std::size_t entries_at_resume_ = 0;  // entries of the trace when `resume_at_` was set
    // Where in the trace the warp's lanes have stopped. Equal neighbours are stored once.
    std::array<const trace_entry*, kWarpSize> stops_{};
    unsigned stop_count_ = 0;
    std::array<trace_entry*, kWarpSize> stopped_at_{};  // of each lane
    bool joining_ = false;                              // lanes go on from there, in the same trace
    trace_entry* checked_to_ = nullptr;                 // the running lane's accesses were checked up to here
    std::deque<trace> traces_;
    trace* trace_ = nullptr;                                                        // the trace that the lanes follow
    std::vector<watched_access>* watched_ = nullptr;                                // receives the accesses of warp 0
    std::map<std::pair<std::uintptr_t, const region*>, std::size_t> last_watched_;  // index in watched_
    wavefront_counter wavefronts_;
    std::uint64_t accesses_ = 0;

    bool is_concurrent_ = false;  // other blocks run, and a lane may wait for them
    spin_watch spins_;
    site* last_atomic_ = nullptr;
    std::uint64_t old_value_ = 0;  // the value in memory before the last atomic
    std::array<std::uint64_t, 2> old_floats_{};
    std::FILE* output_ = stderr;  // where kernels print

    struct alignas(128) bank_row {
        std::byte bytes[128];
    };
    std::unique_ptr<bank_row[]> own_dynamic_shared_;
    void* dynamic_shared_ = nullptr;  // the running block's dynamic shared memory
    shadow_memory static_shadow_, dynamic_shadow_;

    bool some_copies_ = false;  // the block has made asynchronous copies
    std::array<copies_under_way, kMaxThreads> copies_;
};

// The worker whose block runs on this OS thread; null outside a launch, when callbacks have nothing to do.
[[gnu::tls_model("local-exec")]] extern thread_local constinit worker* current_worker;

}  // namespace cornerturn::emulator
