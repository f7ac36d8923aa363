// One OS thread's share of an emulated launch: runs whole blocks, a fiber for each CUDA thread, and counts.
//
// A warp's lanes run one after the other up to their next barrier. Every memory access calls in here (callbacks.cpp)
// and is filed under its call site and how often this lane has passed that site since the barrier: lanes that agree
// in both executed one warp instruction together. When the last lane stops, the filed instructions are counted and
// checked, and the next warp runs.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define CORNERTURN_ANNOUNCE_FIBERS 1
#else
#define CORNERTURN_ANNOUNCE_FIBERS 0
#endif

#include "emulator/counters.hpp"
#include "emulator/fiber.hpp"
#include "emulator/session.hpp"
#include "emulator/shadow.hpp"
#include "emulator/symbols.hpp"

namespace cornerturn::emulator {

inline constexpr unsigned kMaxThreads = 1024, kMaxWarps = kMaxThreads / kWarpSize;
// A lane that waits has filled about five cache lines at the top of its stack. Stacks a power of two apart would put
// those of all lanes into a few sets of the cache; these follow one another through all of its sets.
inline constexpr std::size_t kLineBytes = 64, kLinesFilled = 5;
// What a kernel has, and what is kept for the emulator's own calls on the same stack: a sanitizer's are large.
inline constexpr std::size_t kKernelStackBytes = 14 << 10,
                             kStackReserve = CORNERTURN_ANNOUNCE_FIBERS ? 114 << 10 : 2 << 10;
inline constexpr std::size_t kStackBytes = kKernelStackBytes + kStackReserve + kLinesFilled * kLineBytes,
                             kStacksBytes = kStackBytes * kMaxThreads;
// The most that a block can have on Hopper, and of it in static arrays.
inline constexpr std::size_t kMaxShared = 227 << 10, kMaxStaticShared = 48 << 10;

// What a memory access may touch.
struct region {
    enum kind : std::uint8_t { global, shared } space;
    bool writable;
    std::uintptr_t begin;
    std::size_t bytes;
    std::string name;
    shadow_memory* shadow;  // of shared memory
};

// A place in the kernel's code that accesses memory.
struct site {
    std::uintptr_t return_address;
    unsigned index;
    unsigned width;
    direction op;
    const region* where = nullptr;  // that the last access fell into, to spare the search
    std::uint64_t lane_serial = 0;  // the lane run that `passes` belongs to
    std::size_t passes = 0;
    counters counts;
};

// One warp instruction in the making.
struct warp_instruction {
    std::uintptr_t return_address = 0;
    std::uintptr_t region_begin = 0;
    std::uintptr_t region_span = 0;  // largest valid offset, plus one
    site* where = nullptr;
    std::size_t pass = 0;  // of the site, by each of the lanes since their last barrier
    const region* place = nullptr;
    std::uint32_t active = 0;
    std::uint64_t addresses[kWarpSize] = {};
    access_costs costs;
};

// The instructions that warps have executed from one barrier (or the kernel's beginning) to the next, in their order;
// then one that matches nothing. The next warp mostly executes the same.
struct trace {
    explicit trace(std::uintptr_t begin) : after(begin) { expected.push_back(&end); }

    std::uintptr_t after;  // the return address of the barrier; 0: the beginning
    warp_instruction end;
    std::vector<warp_instruction*> expected;
    std::vector<std::unique_ptr<warp_instruction>> owned;
};

class worker {
public:
    worker();
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // Prepares for a launch on the calling OS thread, which must then make all the calls below.
    void begin(const launch_config& config, kernel_entry entry, const void* arguments, const session& session);
    void end();

    // Throws hazard.
    void run_block(extent3 block);

    // Counters of the blocks since the last call, by site; then zero.
    struct site_counts {
        std::uintptr_t return_address;
        counters counts;
        bool operator==(const site_counts&) const = default;
    };
    std::vector<site_counts> take_counts();
    std::uint64_t accesses() const { return accesses_; }

    // From here on called by the kernel, on a fiber.
    void access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
        // Lanes mostly do what those before them did, in their order.
        warp_instruction& next = **cursor_;
        if (next.return_address == return_address && address - next.region_begin < next.region_span &&
            (address & (width - 1)) == 0) [[likely]] {
            ++cursor_;
            next.active |= lane_bit_;
            next.addresses[lane_] = address;
            return;
        }
        file_access(address, width, op, return_address);
    }
    // The kernel returned: true if the next lane can run where this one did.
    bool end_lane() {
        warp_->finished |= lane_bit_;
        left_ = fiber_of_[current_];
        if (!next_is_fresh()) return false;
        begin_lane();
        warp_->started |= lane_bit_;
        fiber_of_[current_] = left_;
        return true;
    }
    handover leave_fiber() { return hand_over(*left_, next_fiber()); }
    handover sync_threads(std::uintptr_t return_address) { return stop_lane(warp_->at_barrier, return_address); }
    handover sync_warp(std::uint32_t mask, std::uintptr_t return_address);
    handover shuffle(std::uint32_t mask, std::uint64_t value, int operand, int width, shuffle_kind kind,
                     std::uintptr_t return_address);
    std::uint64_t shuffled() const { return waits_[lane_].received; }
    void unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address);

    std::uint64_t packed_thread() const { return packed_thread_[current_]; }
    std::uint64_t packed_block() const { return packed_block_; }
    std::uint64_t packed_block_dim() const { return packed_block_dim_; }
    std::uint64_t packed_grid_dim() const { return packed_grid_dim_; }
    void* dynamic_shared() { return dynamic_shared_.get(); }

private:
    // What the lanes of a warp are at: a bit each. Neither waiting nor finished: runnable.
    struct warp_state {
        std::uint32_t lanes = 0;  // that it has
        std::uint32_t started = 0, at_barrier = 0, at_warp_sync = 0, finished = 0;
    };

    // What a lane that waits at a warp-level barrier waits for.
    struct warp_wait {
        std::uint32_t mask = 0;
        int source = -1;  // the lane that it shuffles from; -1: it only waits
        std::uint64_t offered = 0, received = 0;
    };

    // A fault found while a fiber ran; raised once control is back in run_block.
    struct fault {
        hazard_kind kind;
        unsigned thread;
        std::uintptr_t address;
        std::size_t width;
        direction op;
        std::uintptr_t return_address;
    };

    static void fiber_main();
    char* stack_of(const fiber& f) const { return stacks_ + kStackBytes * (&f - fibers_.data()); }

    bool next_is_fresh() const { return (due_ & -due_ & ~warp_->started) != 0; }

    // Goes on with the first lane that is due.
    void begin_lane() {
        lane_ = static_cast<unsigned>(std::countr_zero(due_));
        lane_bit_ = due_ & -due_;
        due_ ^= lane_bit_;
        current_ = first_ + lane_;
        cursor_ = trace_begin_;
    }

    // The fiber to go on with: the next lane's, or run_block itself.
    fiber& next_fiber() {
        if (due_ == 0) return outside_;
        const bool fresh = next_is_fresh();
        begin_lane();
        if (fresh) {
            warp_->started |= lane_bit_;
            fiber& made = fibers_[fibers_made_++];
            make_fiber(made, stack_of(made), stack_of(made) + kStackBytes, &fiber_main);
            fiber_of_[current_] = &made;
            return made;
        }
        // By the time that the lane after next is due, the part of its stack that it returns to is in the cache.
        if (const fiber* soon = fiber_of_[(current_ + 2) % kMaxThreads]) {
            const char* const top = static_cast<const char*>(soon->stack_pointer);
            for (std::size_t line = 0; line < kLinesFilled; ++line) __builtin_prefetch(top + line * kLineBytes, 1);
        }
        return *fiber_of_[current_];
    }

    // The handover that the caller is about to make.
    handover hand_over(fiber& from, fiber& to) {
#if CORNERTURN_ANNOUNCE_FIBERS
        announce(from, to);
#endif
        return {&from, &to};
    }

    handover stop_lane(std::uint32_t& waiting, std::uintptr_t return_address) {
        waiting |= lane_bit_;
        sync_sites_[current_] = return_address;
        fiber& own = *fiber_of_[current_];
        return hand_over(own, next_fiber());
    }
    [[noreturn]] void raise_from_fiber(const fault& what);

    void run_warp(unsigned warp);
    handover wait_for_warp(std::uint32_t mask, std::uintptr_t return_address);
    void release_warp_syncs();
    bool release_barrier();
    [[gnu::noinline]] void file_access(std::uintptr_t address, unsigned width, direction op,
                                       std::uintptr_t return_address);
    site& find_site(std::uintptr_t return_address, unsigned width, direction op);
    const region& find_region(site& where, std::uintptr_t address);
    warp_instruction& find_instruction(site& where);
    void follow_trace(std::uintptr_t after);
    void settle_instructions();
    void count(warp_instruction& instruction);
    void check_shared(const warp_instruction& instruction);
    void check_cell(shadow_cell& cell, const warp_instruction& instruction, touch now, std::uintptr_t address);

    [[noreturn]] void raise_race(const warp_instruction& instruction, touch now, const shadow_cell::rival& rival);
    [[noreturn]] void raise(const fault& what);
    [[noreturn]] void raise(hazard_kind kind, unsigned thread, const std::string& what);
    void check_unwritten();
    shadow_memory& shadow_of(std::uintptr_t address) {
        return static_shadow_.covers(address) ? static_shadow_ : dynamic_shadow_;
    }
    std::string describe_stray(const fault& what) const;
    std::string name_of(unsigned thread) const;
    std::string line_of_site(unsigned index) const;

    // Fixed for the launch.
    launch_config config_;
    kernel_entry entry_ = nullptr;
    const void* arguments_ = nullptr;
    unsigned threads_ = 0;
    std::array<std::uint64_t, kMaxThreads> packed_thread_{};
    std::uint64_t packed_block_dim_ = 0, packed_grid_dim_ = 0;
    std::deque<region> regions_;

    // A lane that ends without waiting leaves its fiber to the next, so kernels without barriers use one.
    char* stacks_ = nullptr;
    std::array<fiber, kMaxThreads> fibers_{};
    fiber outside_{};           // run_block itself
    fiber* left_ = nullptr;     // that the last lane to end ran on
    unsigned fibers_made_ = 0;  // for this block
#if CORNERTURN_ANNOUNCE_FIBERS
    struct announced {
        void* fake_stack = nullptr;
        const void* bottom = nullptr;
        std::size_t bytes = 0;
    };
    std::array<announced, kMaxThreads + 1> announced_;  // the last: of outside_
    void announce(fiber& from, fiber& to);
#endif

    // The block being run.
    extent3 block_;
    std::uint64_t packed_block_ = 0;
    std::array<warp_state, kMaxWarps> warps_;
    std::array<fiber*, kMaxThreads> fiber_of_{};            // for threads that have started
    std::array<std::uintptr_t, kMaxThreads> sync_sites_{};  // of the barrier that the thread waits at; 0: it never did
    std::array<std::uint16_t, kMaxThreads> warp_syncs_{};   // that the thread has passed
    std::array<warp_wait, kWarpSize> waits_;                // of the warp being run
    std::uint64_t serial_ = 0;                              // barrier intervals, over all blocks
    std::uint64_t block_first_serial_ = 0;                  // the interval in which this block began
    std::optional<fault> fault_;
    // A read of shared memory that nobody had written, as far as is known: raised once its barrier interval is over. A
    // write in it by another thread makes it a race; one by the same thread may have come first.
    struct unwritten_read {
        unsigned thread, site;
        const region* place;
        std::uintptr_t address;
    };
    std::vector<unwritten_read> unwritten_;

    // The warp being run, the lane being run, and the lanes to run after it.
    warp_state* warp_ = nullptr;
    unsigned first_ = 0;               // the warp's first thread
    unsigned lane_ = 0, current_ = 0;  // within the warp, within the block
    std::uint32_t lane_bit_ = 0, due_ = 0;
    std::uint64_t lane_serial_ = 0;

    std::deque<site> sites_;
    struct cache_entry {
        std::uintptr_t return_address = 0;
        site* found = nullptr;
    };
    std::array<cache_entry, 256> site_cache_;
    std::vector<std::unique_ptr<trace>> traces_;
    trace* trace_ = nullptr;  // that the lanes follow
    warp_instruction* const* trace_begin_ = nullptr;
    // Into the trace: the instruction that the lane is expected to go on with. A lane that has strayed from the trace
    // expects nothing, and has its place in it here.
    warp_instruction* const* cursor_ = nullptr;
    warp_instruction nothing_;
    warp_instruction* const strayed_ = &nothing_;
    std::size_t place_ = 0;
    wavefront_counter wavefronts_;
    std::uint64_t accesses_ = 0;

    struct alignas(128) bank_row {
        std::byte bytes[128];
    };
    std::unique_ptr<bank_row[]> dynamic_shared_;
    shadow_memory static_shadow_, dynamic_shadow_;
};

// The worker whose block runs on this OS thread; null outside a launch, when callbacks have nothing to do.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit worker* current_worker;

}  // namespace cornerturn::emulator
