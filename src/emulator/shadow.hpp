// The shadow of shared memory: the last write and the last read of each cell, to find races and reads of unwritten
// memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cornerturn::emulator {

// The last access to a cell: its thread, time and site. It has 64 bits, because every shared access reads and writes
// two of them.
//   serial: the barrier interval, counted over all blocks of the worker; 0: never
//   warp_syncs: the warp's count of __syncwarp and shuffles within the block
struct touch {
    std::uint64_t bits = 0;

    static constexpr int kSerialBits = 25, kWarpSyncBits = 13, kSiteBits = 14, kThreadBits = 10;
    static constexpr std::uint64_t kMaxSerial = (1ull << kSerialBits) - 1;
    static constexpr unsigned kMaxSites = 1u << kSiteBits, kMaxWarpSyncs = (1u << kWarpSyncBits) - 1;
    // Where each field begins. From the lowest bit on: two flags, thread, site, warp_syncs, serial.
    static constexpr int kSite = 2 + kThreadBits, kWarpSync = kSite + kSiteBits, kSerial = kWarpSync + kWarpSyncBits;
    static constexpr std::uint64_t kIntervalBits = ~std::uint64_t{0} << kSerial;

    static touch make(std::uint64_t serial, unsigned warp_syncs, unsigned site, unsigned thread) {
        return {serial << kSerial | std::uint64_t{warp_syncs} << kWarpSync | std::uint64_t{site} << kSite |
                std::uint64_t{thread} << 2};
    }
    std::uint64_t serial() const { return bits >> kSerial; }
    unsigned warp_syncs() const { return bits >> kWarpSync & kMaxWarpSyncs; }
    unsigned site() const { return bits >> kSite & (kMaxSites - 1); }
    unsigned thread() const { return bits >> 2 & 0x3ff; }
    unsigned warp() const { return bits >> 7 & 0x1f; }

    // Flags of a cell's last reader: other threads have read the cell, too, in this warp or in another warp.
    static constexpr std::uint64_t kOtherLanes = 1, kOtherWarps = 2;
    bool other_lanes() const { return (bits & kOtherLanes) != 0; }
    bool other_warps() const { return (bits & kOtherWarps) != 0; }

    bool same_interval(touch other) const { return serial() == other.serial(); }
    bool same_warp(touch other) const { return warp() == other.warp(); }
    // Same barrier interval, and no __syncwarp or shuffle between them that orders lanes of one warp.
    bool unordered_with(touch other) const {
        return same_interval(other) && (!same_warp(other) || warp_syncs() == other.warp_syncs());
    }
};

struct shadow_cell {
    touch write, read;

    // Records the read. Returns true if a write by another thread is not ordered before it.
    bool note_read(touch now) {
        if (read.same_interval(now)) now.bits |= other_readers(now);
        read = now;
        return write.thread() != now.thread() && write.unordered_with(now);
    }
    // Returns flags for the other readers in this interval. The caller stores them with `now`.
    std::uint64_t other_readers(touch now) const {
        if (!read.same_warp(now)) return touch::kOtherWarps;
        const bool same_thread = read.thread() == now.thread();
        return (read.bits & touch::kOtherWarps) | (read.warp_syncs() != now.warp_syncs() ? 0
                                                   : same_thread ? read.bits & touch::kOtherLanes
                                                                 : touch::kOtherLanes);
    }

    struct rival {
        touch who;  // serial 0: no race
        bool wrote;
    };

    // Records the write and returns the access that it races with.
    rival note_write(touch now) {
        rival found{{}, false};
        if (write.thread() != now.thread() && write.unordered_with(now)) {
            found = {write, true};
        } else if (read.same_interval(now)) {
            const bool other_lane = read.thread() != now.thread() || read.other_lanes();
            if (read.other_warps() || (other_lane && read.unordered_with(now))) found = {read, false};
        }
        write = now;
        return found;
    }
};

// The cells of a range of addresses. A cell covers `granule` bytes: as many as the narrowest access so far.
class shadow_memory {
public:
    void cover(std::uintptr_t begin, std::size_t bytes) {
        granule_log2_ = kWidestLog2;
        begin_ = begin >> granule_log2_ << granule_log2_;
        bytes_ = begin - begin_ + bytes;
        cells_.assign((bytes_ >> granule_log2_) + 1, shadow_cell{});
    }
    // Covers this range as well, and keeps the existing cells.
    void include(std::uintptr_t begin, std::size_t bytes) {
        if (bytes_ == 0) return cover(begin, bytes);
        const unsigned granule_log2 = granule_log2_;
        const std::uintptr_t old_begin = begin_, first = std::min(begin, begin_),
                             end = std::max(begin + bytes, begin_ + bytes_);
        const std::vector<shadow_cell> old = std::move(cells_);
        cover(first, end - first);
        if (granule_log2 != granule_log2_) refine(granule_log2);
        std::copy(old.begin(), old.end(),
                  cells_.begin() + static_cast<std::ptrdiff_t>((old_begin - begin_) >> granule_log2_));
    }
    void clear() { cells_.assign(cells_.size(), shadow_cell{}); }

    bool covers(std::uintptr_t address) const { return address - begin_ < bytes_; }

    // The number of cells of an access of `width` bytes. Refines the cells if they are wider.
    unsigned cells_of(unsigned width) {
        if (width < 1u << granule_log2_) refine(static_cast<unsigned>(std::countr_zero(width)));
        return width >> granule_log2_;
    }
    // Whether an access of `width` bytes has one cell.
    bool has_cells_of(unsigned width) const { return width == 1u << granule_log2_; }

    // The cell at an address. Valid until a narrower access comes.
    struct window {
        std::uintptr_t origin;  // the address of the cell of address 0
        unsigned scale_log2;    // log2 of the bytes of cells for each byte of memory
        shadow_cell& operator[](std::uintptr_t address) const {
            return *reinterpret_cast<shadow_cell*>(origin + (address << scale_log2));
        }
    };
    window cells() {
        const unsigned scale_log2 = kCellLog2 - granule_log2_;
        return {reinterpret_cast<std::uintptr_t>(cells_.data()) - (begin_ << scale_log2), scale_log2};
    }

private:
    static constexpr unsigned kWidestLog2 = 4;  // 16 bytes
    static constexpr unsigned kCellLog2 = 4;
    static_assert(sizeof(shadow_cell) == 1u << kCellLog2 && kCellLog2 >= kWidestLog2);

    void refine(unsigned granule_log2) {
        std::vector<shadow_cell> finer;
        const unsigned times = 1u << (granule_log2_ - granule_log2);
        finer.reserve(cells_.size() * times);
        for (const shadow_cell& cell : cells_) finer.insert(finer.end(), times, cell);
        cells_ = std::move(finer);
        granule_log2_ = granule_log2;
    }

    std::uintptr_t begin_ = 0;  // a multiple of the widest access
    std::size_t bytes_ = 0;
    unsigned granule_log2_ = kWidestLog2;  // log2 of the bytes that a cell covers
    std::vector<shadow_cell> cells_;
};

}  // namespace cornerturn::emulator
