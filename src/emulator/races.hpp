// The search for races in global memory: the last write and the last read of each cell, over all blocks of a launch.
//
// Two threads race if they access the same bytes, one of them writes, and nothing orders them. The block's barriers
// order its threads, and a warp's barriers order its lanes. Fences order blocks: what a block did before a fence, in
// that barrier interval or earlier, comes before what another block does after a fence, an atomic or a volatile load
// that follows that fence. Atomics and volatile accesses take part in no race.
//
// Workers use the same cells at the same time. Each half of a cell is read and written atomically, but the whole cell
// is not. So a race may be missed if two workers access a cell within nanoseconds. There are no false alarms.
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

// The last access to a cell: its thread, time and site.
//   serial: the barrier interval, counted over all blocks and launches of the worker; 0: never
//   warp_syncs: the warp's count of __syncwarp and shuffles within the block
struct global_touch {
    std::uint64_t bits = 0;

    static constexpr int kThread = 3, kSite = 13, kWarpSync = 25, kWorker = 38, kSerial = 44;  // each field's first bit
    static constexpr std::uint64_t kMaxSerial = (1u << 19) - 1;                                // the top bit is 0
    static constexpr unsigned kMaxWorkers = 1u << 6, kMaxWarpSyncs = (1u << 13) - 1, kMaxSites = 1u << 12;
    // Flags of a cell's last reader: other threads have read it, too, in this warp, another warp or another block.
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
    // For touches of one interval: no __syncwarp or shuffle between them orders lanes of one warp.
    bool unordered_with(global_touch other) const { return !same_warp(other) || same_warp_sync(other); }
};

// The thread and its count of warp-level barriers, from a touch of shared memory.
inline std::uint64_t global_bits(touch of_thread) {
    static_assert(global_touch::kMaxWarpSyncs == touch::kMaxWarpSyncs);
    return std::uint64_t{of_thread.warp_syncs()} << global_touch::kWarpSync | std::uint64_t{of_thread.thread()}
                                                                                  << global_touch::kThread;
}

// The bits of the last touches of some bytes.
struct global_cell {
    std::uint64_t *write, *read;
};

// The memory that the cells of all shadows use. They may use half of the available memory.
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
        std::uint64_t *writes, *reads;  // a touch for each cell; the system allocates pages on first use
        std::size_t at(std::uintptr_t address) const { return (address - begin) >> granule_log2; }
        global_cell operator[](std::size_t i) const { return {writes + i, reads + i}; }
        std::size_t bytes() const { return 2 * count * sizeof(std::uint64_t); }
    };

    // Throws std::bad_alloc if the budget or the address space is too small.
    global_shadow(std::uintptr_t begin, std::size_t bytes, unsigned width, shadow_budget& budget);
    ~global_shadow();
    global_shadow(const global_shadow&) = delete;
    global_shadow& operator=(const global_shadow&) = delete;

    // The cells for accesses of `width` bytes or more. Any worker may refine them in the meantime: touches recorded in
    // the returned cells are then lost. Null if finer cells do not fit: this memory is searched no more.
    const cells* cells_for(unsigned width) {
        const cells* now = current_.load(std::memory_order_acquire);
        if (now != nullptr && width < 1u << now->granule_log2) now = refine(width);
        return now;
    }
    void forget();  // all touches; only while no kernel runs

    // Whether any thread has read, or written, this memory in this launch. If not, half of each cell needs no check.
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

// The data that all workers of a launch share. It is kept from launch to launch, so that nothing has to be cleared.
class race_search {
public:
    race_search();
    ~race_search();

    void begin_launch();
    // The shadow of this memory. Null if the system lacks memory for it, which is reported once.
    global_shadow* cover(const char* name, std::uintptr_t begin, std::size_t bytes, unsigned width);

    // A number for the access site in this launch, and back. Sites beyond the maximum share the last number, with site
    // 0.
    unsigned number_of_site(std::uintptr_t return_address);
    std::uintptr_t site(unsigned number) const { return sites_[number]; }

    // The number of fences in the launch so far.
    std::uint64_t fences() const { return fences_.load(std::memory_order_relaxed); }
    std::uint64_t count_fence() { return fences_.fetch_add(1, std::memory_order_relaxed) + 1; }

    // The record of one of a worker's last barrier intervals.
    struct interval {
        std::atomic<std::uint64_t> serial{0}, block{0};
        std::atomic<std::uint64_t> fence{0};  // its first fence; 0: none
    };
    static constexpr std::size_t kIntervals = 1 << 14;
    interval& interval_of(unsigned worker, std::uint64_t serial) {
        return history_[worker].load(std::memory_order_relaxed)[serial % kIntervals];
    }
    void begin_worker(unsigned worker);           // allocates its intervals
    std::uint64_t base() const { return base_; }  // serials of this launch begin here
    void end_worker(std::uint64_t serial);        // the worker's last

private:
    std::mutex mutex_;
    shadow_budget budget_;
    std::map<std::uintptr_t, std::unique_ptr<global_shadow>> shadows_;  // by first address
    bool has_warned_ = false;
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
        global_touch who;  // bits 0: no race
        bool wrote;
        bool in_block;  // of this block, in this interval
        bool unknown;   // the rival is some earlier reader: the cell stores only the last reader, `who`
    };

    void begin(race_search* search, unsigned worker);  // a launch; null: no search
    void end();
    bool searching() const { return search_ != nullptr; }
    race_search& search() const { return *search_; }

    void begin_block(std::uint64_t index);
    void next_interval();
    void fence() {
        if (search_ != nullptr) note_fence();
    }
    // An atomic or a volatile load, which may observe another block's fence. settle_acquire() finds out which.
    void acquire() { acquires_ = has_acquired_ = true; }
    bool has_acquired() const { return has_acquired_; }  // in this block
    void settle_acquire() {
        if (!acquires_) return;
        acquired_ = search_->fences();
        acquires_ = false;
    }
    std::uint64_t interval_bits() const { return interval_bits_; }
    std::uint64_t base_bits() const { return base_bits_; }
    // Whether the touch is of an earlier launch, or of this block alone in an earlier interval.
    bool is_over(std::uint64_t bits) const {
        return bits < base_bits_ ||
               (bits - first_bits_ < interval_bits_ - first_bits_ &&
                ((bits ^ interval_bits_) >> global_touch::kWorker & (global_touch::kMaxWorkers - 1)) == 0 &&
                (bits & global_touch::kOtherBlocks) == 0);
    }
    // Finds the index of the block that made the touch. False if that was too long ago.
    bool find_block(global_touch of, std::uint64_t& index) const;

    // Returns flags for the other readers. The caller stores them with `now`.
    std::uint64_t other_readers(global_touch read, global_touch now) const {
        if (read.bits < base_bits_) return 0;
        if (!is_own(read)) return is_released(read) ? 0 : global_touch::kOtherBlocks;
        return (read.bits & global_touch::kOtherBlocks) | (read.same_interval(now) ? readers_of_block(read, now) : 0);
    }

    // Records the access and returns the access that it races with.
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
        // After an acquire it is unknown whether the other block's read came before its fence.
        if (read.has(global_touch::kOtherBlocks) && acquired_ == 0) return {read, false, false, true};
        if (!read.same_interval(now)) return {};
        if (!read.same_thread(now) && read.unordered_with(now)) return {read, false, true, false};
        const bool others =
            read.has(global_touch::kOtherWarps) || (read.has(global_touch::kOtherLanes) && read.unordered_with(now));
        return others ? rival{read, false, true, true} : rival{};
    }

private:
    // Whether this block made the touch.
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
    // Whether a fence of its block and an acquire of this block order it before this access.
    bool is_released(global_touch earlier) const { return acquired_ != 0 && find_fence(earlier); }
    bool find_fence(global_touch earlier) const;
    void note_fence();
    void note_interval();

    static constexpr std::uint64_t kBelowWorker = (std::uint64_t{1} << global_touch::kWorker) - 1;

    race_search* search_ = nullptr;
    unsigned worker_ = 0;
    std::uint64_t base_bits_ = 0;                       // lower touches are of earlier launches
    std::uint64_t serial_ = 0, block_ = 0;              // of this interval
    std::uint64_t highest_ = 0;                         // serial before the serials restarted
    std::uint64_t first_bits_ = 0, interval_bits_ = 0;  // of this block's first interval, and of this one
    std::uint64_t acquired_ = 0;                        // the number of fences that this block may have observed
    bool acquires_ = false, has_acquired_ = false;      // an acquire is not settled yet; there was one
};

}  // namespace cornerturn::emulator
