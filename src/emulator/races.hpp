// The search for races in global memory: who wrote and who read each cell last, over all blocks of a launch.
//
// Two threads race if they touch the same bytes, one of them writes, and nothing orders them. Threads of one block are
// ordered by the block's barriers and, within a warp, by the warp's. Blocks are ordered by fences: what a block did
// before a fence, in that barrier interval or earlier, comes before what another block does once it has executed a
// fence, an atomic or a volatile load after that fence. Atomics and volatile accesses race with nobody.
//
// Workers look at the same cells at the same time. Each half of a cell is read and written at once, but not both
// together; so a race may be missed where two workers touch a cell within nanoseconds, and none is made up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/counters.hpp"
#include "emulator/shadow.hpp"

namespace cornerturn::emulator {

// Who touched a cell, when, and from which access site.
//   serial: the barrier interval, counted over all blocks and launches of the worker; 0: never
//   warp_syncs: the warp's count of __syncwarp and shuffles within the block
struct global_touch {
    std::uint64_t bits = 0;

    static constexpr int kThread = 3, kSite = 13, kWarpSync = 25, kWorker = 38, kSerial = 44;  // where each begins
    static constexpr std::uint64_t kMaxSerial = (1u << 19) - 1;                                // no touch is negative
    static constexpr unsigned kMaxWorkers = 1u << 6, kMaxWarpSyncs = (1u << 13) - 1, kMaxSites = 1u << 12;
    // For the readers of a cell: others than this one have read it, in this warp, in another, or in another block.
    static constexpr std::uint64_t kOtherLanes = 1, kOtherWarps = 2, kOtherBlocks = 4;

    std::uint64_t serial() const { return bits >> kSerial; }
    unsigned worker() const { return bits >> kWorker & (kMaxWorkers - 1); }
    unsigned site() const { return bits >> kSite & (kMaxSites - 1); }
    unsigned thread() const { return bits >> kThread & 0x3ff; }
    bool has(std::uint64_t flag) const { return (bits & flag) != 0; }

    bool same_interval(global_touch other) const { return (bits ^ other.bits) >> kWorker == 0; }
    bool same_thread(global_touch other) const { return ((bits ^ other.bits) >> kThread & 0x3ff) == 0; }
    bool same_warp(global_touch other) const { return ((bits ^ other.bits) >> kThread & 0x3e0) == 0; }
    bool same_warp_sync(global_touch other) const { return ((bits ^ other.bits) >> kWarpSync & kMaxWarpSyncs) == 0; }
    // Of one interval: no __syncwarp or shuffle between them orders lanes of one warp.
    bool unordered_with(global_touch other) const { return !same_warp(other) || same_warp_sync(other); }
};

// The thread and its warp-level barriers, from a touch of shared memory.
inline std::uint64_t global_bits(touch of_thread) {
    static_assert(global_touch::kMaxWarpSyncs == touch::kMaxWarpSyncs);
    return std::uint64_t{of_thread.warp_syncs()} << global_touch::kWarpSync | std::uint64_t{of_thread.thread()}
                                                                                  << global_touch::kThread;
}

// The last touches of some bytes, by their bits.
struct global_cell {
    std::uint64_t *write, *read;
};

// How much memory the cells of all shadows take, and may take: half of what the system has.
class shadow_budget {
public:
    bool fits(std::size_t more) const;
    void add(std::size_t bytes) { used_ += bytes; }
    void subtract(std::size_t bytes) { used_ -= bytes; }

private:
    std::atomic<std::size_t> used_{0};
};

// The cells of a part of global memory. A cell covers as many bytes as the narrowest access so far.
class global_shadow {
public:
    struct cells {
        std::uintptr_t begin;
        unsigned granule_log2;
        std::size_t count;
        std::uint64_t *writes, *reads;  // a touch for each cell; memory that the system gives where it is touched
        std::size_t at(std::uintptr_t address) const { return (address - begin) >> granule_log2; }
        global_cell operator[](std::size_t i) const { return {writes + i, reads + i}; }
        std::size_t bytes() const { return 2 * count * sizeof(std::uint64_t); }
    };

    // Throws std::bad_alloc where the budget has no room for it, or the system no such address space.
    global_shadow(std::uintptr_t begin, std::size_t bytes, unsigned width, shadow_budget& budget);
    ~global_shadow();
    global_shadow(const global_shadow&) = delete;
    global_shadow& operator=(const global_shadow&) = delete;

    // For accesses of so many bytes, or wider ones. Any worker may make them finer meanwhile: what is noted in the ones
    // given here is lost then. Null where finer ones would not fit: races are searched here no more.
    const cells* cells_for(unsigned width) {
        const cells* now = current_.load(std::memory_order_acquire);
        if (now != nullptr && width < 1u << now->granule_log2) now = refine(width);
        return now;
    }
    void forget();  // what is known; while no kernel runs

    // Whether anybody has written to any of it in this launch, and read: or else half of the cells need not be looked
    // at.
    enum use { read, written };
    bool has_been(use what) const { return used_[what].load(std::memory_order_relaxed); }
    void note_use(use what) {
        if (!has_been(what)) used_[what] = true;
    }
    std::size_t bytes() const { return bytes_; }

private:
    friend class race_search;
    std::unique_ptr<cells> make(unsigned granule_log2);
    void give_back(const cells& one);
    const cells* refine(unsigned width);

    std::uintptr_t begin_;
    std::size_t bytes_;
    shadow_budget& budget_;
    std::mutex refining_;
    std::atomic<const cells*> current_;
    std::vector<std::unique_ptr<cells>> made_;  // the last are the current ones; others may be in use
    std::uint64_t last_launch_ = 0;
    std::array<std::atomic<bool>, 2> used_{};
};

// What all workers of a launch share. It is kept from launch to launch, so that nothing has to be cleared.
class race_search {
public:
    race_search();
    ~race_search();

    void begin_launch();
    // The shadow of this memory; null where there is not enough of the system's for it, of which it tells once.
    global_shadow* cover(const char* name, std::uintptr_t begin, std::size_t bytes, unsigned width);

    // A number for the access site, in this launch; and back. Sites beyond the most share the last number, which stands
    // for none: 0.
    unsigned number_of_site(std::uintptr_t return_address);
    std::uintptr_t site(unsigned number) const { return sites_[number]; }

    // Fences are counted over the launch: 0 before the first.
    std::uint64_t fences() const { return fences_.load(std::memory_order_relaxed); }
    std::uint64_t count_fence() { return fences_.fetch_add(1, std::memory_order_relaxed) + 1; }

    // What is remembered of a worker's last barrier intervals.
    struct interval {
        std::atomic<std::uint64_t> serial{0}, block{0};
        std::atomic<std::uint64_t> fence{0};  // its first; 0: none
    };
    static constexpr std::size_t kIntervals = 1 << 14;
    interval& interval_of(unsigned worker, std::uint64_t serial) {
        return history_[worker].load(std::memory_order_relaxed)[serial % kIntervals];
    }
    void begin_worker(unsigned worker);           // with an interval_of() each
    std::uint64_t base() const { return base_; }  // serials of this launch begin here
    void end_worker(std::uint64_t serial);        // the worker's last

private:
    std::mutex mutex_;
    shadow_budget budget_;
    std::map<std::uintptr_t, std::unique_ptr<global_shadow>> shadows_;  // by their begin
    bool has_told_ = false;
    std::uint64_t launches_ = 0, base_ = 1, highest_ = 0;
    std::array<std::uintptr_t, global_touch::kMaxSites> sites_{};
    unsigned site_count_ = 0;
    std::atomic<std::uint64_t> fences_{0};
    std::array<std::atomic<interval*>, global_touch::kMaxWorkers> history_{};
};

// One worker's part of the search.
class block_races {
public:
    struct rival {
        global_touch who;  // its bits are 0 where there is no race
        bool wrote;
        bool in_block;  // this one, in this interval
        bool unknown;   // `who` is the last reader, and the rival one of those before it
    };

    void begin(race_search* search, unsigned worker);  // a launch; null: nothing is searched
    void end();
    bool searching() const { return search_ != nullptr; }
    race_search& search() const { return *search_; }

    void begin_block(std::uint64_t index);
    void next_interval();
    void fence() {
        if (search_ != nullptr) note_fence();
    }
    // An atomic or a volatile load, which is about to see what may have been done before a fence: before which one is
    // known later.
    void acquire() { acquires_ = has_acquired_ = true; }
    bool has_acquired() const { return has_acquired_; }  // this block
    void settle_acquire() {
        if (!acquires_) return;
        acquired_ = search_->fences();
        acquires_ = false;
    }
    std::uint64_t interval_bits() const { return interval_bits_; }
    std::uint64_t base_bits() const { return base_bits_; }
    // Whether the touch is of an earlier launch, or of this block in an earlier interval, and no other's.
    bool is_over(std::uint64_t bits) const {
        return bits < base_bits_ ||
               (bits - first_bits_ < interval_bits_ - first_bits_ &&
                ((bits ^ interval_bits_) >> global_touch::kWorker & (global_touch::kMaxWorkers - 1)) == 0 &&
                (bits & global_touch::kOtherBlocks) == 0);
    }
    // Of the block of a touch by another block: its index; none where that was long ago.
    bool find_block(global_touch of, std::uint64_t& index) const;

    // What is to be remembered of who else has read what `now` reads.
    std::uint64_t other_readers(global_touch read, global_touch now) const {
        if (read.bits < base_bits_) return 0;
        if (!is_own(read)) return is_released(read) ? 0 : global_touch::kOtherBlocks;
        return (read.bits & global_touch::kOtherBlocks) | (read.same_interval(now) ? readers_of_block(read, now) : 0);
    }

    // Notes the access and returns what it races with.
    rival note_read(global_cell cell, global_touch now) const {
        const global_touch wrote{__atomic_load_n(cell.write, __ATOMIC_RELAXED)},
            read{__atomic_load_n(cell.read, __ATOMIC_RELAXED)};
        __atomic_store_n(cell.read, now.bits | other_readers(read, now), __ATOMIC_RELAXED);
        return wrote.bits >= base_bits_ && races_with(wrote, now) ? rival{wrote, true, is_own(wrote), false} : rival{};
    }
    rival note_write(global_cell cell, global_touch now) const {
        const global_touch wrote{__atomic_load_n(cell.write, __ATOMIC_RELAXED)},
            read{__atomic_load_n(cell.read, __ATOMIC_RELAXED)};
        __atomic_store_n(cell.write, now.bits, __ATOMIC_RELAXED);
        if (wrote.bits >= base_bits_ && races_with(wrote, now)) return {wrote, true, is_own(wrote), false};
        if (read.bits < base_bits_) return {};
        if (!is_own(read)) return is_released(read) ? rival{} : rival{read, false, false, false};
        // After an acquire nobody knows whether the other block's read came before its fence.
        if (read.has(global_touch::kOtherBlocks) && acquired_ == 0) return {read, false, false, true};
        if (!read.same_interval(now)) return {};
        if (!read.same_thread(now) && read.unordered_with(now)) return {read, false, true, false};
        const bool others =
            read.has(global_touch::kOtherWarps) || (read.has(global_touch::kOtherLanes) && read.unordered_with(now));
        return others ? rival{read, false, true, true} : rival{};
    }

private:
    // Whether it is this block's.
    bool is_own(global_touch t) const {
        return (t.bits - first_bits_) <= (interval_bits_ | kBelowWorker) - first_bits_ && t.worker() == worker_;
    }
    static std::uint64_t readers_of_block(global_touch read, global_touch now) {
        std::uint64_t flags = 0;
        if (!read.same_warp(now)) return global_touch::kOtherWarps;
        flags = read.bits & global_touch::kOtherWarps;
        if (read.same_warp_sync(now))
            flags |= read.same_thread(now) ? read.bits & global_touch::kOtherLanes : global_touch::kOtherLanes;
        return flags;
    }
    bool races_with(global_touch earlier, global_touch now) const {
        if (!is_own(earlier)) return !is_released(earlier);
        return earlier.same_interval(now) && !earlier.same_thread(now) && earlier.unordered_with(now);
    }
    // Whether a fence of its block, and an acquire of this one, order it before this.
    bool is_released(global_touch earlier) const { return acquired_ != 0 && find_fence(earlier); }
    bool find_fence(global_touch earlier) const;
    void note_fence();
    void note_interval();

    static constexpr std::uint64_t kBelowWorker = (std::uint64_t{1} << global_touch::kWorker) - 1;

    race_search* search_ = nullptr;
    unsigned worker_ = 0;
    std::uint64_t base_bits_ = 0;                       // touches below are of launches before
    std::uint64_t serial_ = 0, block_ = 0;              // of this interval
    std::uint64_t highest_ = 0;                         // serial, before they began anew
    std::uint64_t first_bits_ = 0, interval_bits_ = 0;  // of this block's first interval, and of this one
    std::uint64_t acquired_ = 0;                        // the fences that this block may have seen
    bool acquires_ = false, has_acquired_ = false;      // and those so far, in the end; any
};

}  // namespace cornerturn::emulator
