// What one warp instruction costs, as Nsight Compute counts it on the hardware.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace cornerturn::emulator {

inline constexpr int kWarpSize = 32;
inline constexpr int kSectorBytes = 32;  // of global memory
inline constexpr std::uint32_t kBankRowBytes = 128;

// kReduction: an atomic whose old value nobody uses, in global memory; kAtomic: another. kCopied: a store by an
// asynchronous copy, which none of the counters below counts.
enum direction : int { kLoad = 0, kStore = 1, kReduction = 2, kAtomic = 3, kCopied = 4 };
inline constexpr int kDirections = 4;  // that are counted

// Sums over warp instructions, by direction. In Nsight Compute's names {} is ld, st, red or atom.
struct counters {
    using by_direction = std::array<std::uint64_t, kDirections>;
    by_direction global_requests{};    // l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum
    by_direction global_sectors{};     // l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum
    by_direction shared_requests{};    // smsp__sass_inst_executed_op_shared_{}.sum
    by_direction shared_wavefronts{};  // smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum
    by_direction shared_conflicts{};   // derived: wavefronts above the least that the request could cost

    bool operator==(const counters&) const = default;
    counters& operator+=(const counters& other) { return add(other, 1); }
    counters& add(const counters& other, std::uint64_t times) {
        for (std::size_t d = 0; d < kDirections; ++d) {
            global_requests[d] += times * other.global_requests[d];
            global_sectors[d] += times * other.global_sectors[d];
            shared_requests[d] += times * other.shared_requests[d];
            shared_wavefronts[d] += times * other.shared_wavefronts[d];
            shared_conflicts[d] += times * other.shared_conflicts[d];
        }
        return *this;
    }
};

// The addresses of one warp instruction: addresses[lane] counts where bit `lane` of `active` is set.
struct warp_access {
    const std::uint64_t* addresses;
    std::uint32_t active;
    unsigned width;  // bytes: 1, 2, 4, 8 or 16
};

// Distinct 32-byte sectors touched. Accesses are aligned to their width, so none straddles two.
unsigned count_sectors(const warp_access& access);

// The lanes that shared memory serves at a time, one group after the other: the warp; half-warps at 8 bytes; quarters
// at 16. Of loads the warp at 8 bytes, or a half at 16, is one group where its lanes pair up (every active lane's
// neighbour, or every one's second neighbour, is inactive or at its address) and no bank holds two of its words:
// measured on an H200, results/shared/.
struct lane_groups {
    std::array<std::uint32_t, 4> lanes{};  // a mask each
    int count = 0;
};
lane_groups groups_of(const warp_access& access, direction op);

// Sectors of an atomic in global memory: of each sector as many as the lanes at its most wanted address.
unsigned count_atomic_sectors(const warp_access& access);

// The most lanes whose words lie in one bank: what an atomic in shared memory takes one after the other.
unsigned most_lanes_in_a_bank(const warp_access& access);

// Shared-memory wavefronts. Keeps a stamp for each word of the 256 KiB that a block can see, so that telling distinct
// words apart costs one look each.
class wavefront_counter {
public:
    unsigned count(const warp_access& access, direction op);

private:
    unsigned count_group(const warp_access& access, std::uint32_t group);

    static constexpr std::size_t kWords = 1 << 16;
    std::array<std::uint32_t, kWords> stamp_of_word_{};
    std::uint32_t stamp_ = 0;
};

// The fewest wavefronts that these active lanes at this width could cost: one for each group of lanes that the
// hardware serves apart (the warp; half-warps at 8 bytes; quarter-warps at 16).
unsigned least_wavefronts(std::uint32_t active, unsigned width);

// How often a warp instruction was executed, told apart by where in a row of banks its first lane's address lay, for as
// long as its lanes keep their distances: sectors and wavefronts depend on nothing else, so counting them can wait.
class access_tally {
public:
    // False, and not added, where the lanes keep other distances than before.
    bool add(const std::uint64_t* addresses, std::uint32_t active) {
        if (active != active_) return false;
        const std::uint64_t first = addresses[std::countr_zero(active)];
        // Two lanes at a time, those without an access masked out.
        lane_pair differences{};
        for (int lane = 0; lane < end_; lane += 2) {
            differences |= ((pair(&addresses[lane]) - first) ^ pair(&distances_[lane])) & pair(&masks_[lane]);
        }
        if ((differences[0] | differences[1]) != 0) return false;
        ++times_[first % kBankRowBytes];
        return true;
    }
    // Calls visit(access, times) for what has been added, forgets it, and expects the distances of `next`.
    template <class Visit>
    void restart(const warp_access& next, Visit visit) {
        take(next.width, visit);
        active_ = next.active;
        end_ = std::bit_width(active_);
        const std::uint64_t first = next.addresses[std::countr_zero(active_)];
        for (int lane = 0; lane < kWarpSize; ++lane) {
            distances_[lane] = next.addresses[lane] - first;
            masks_[lane] = (active_ >> lane & 1) != 0 ? ~std::uint64_t{0} : 0;
        }
    }
    template <class Visit>
    void take(unsigned width, Visit visit) {
        if (active_ == 0) return;
        for (unsigned first = 0; first < kBankRowBytes; ++first) {
            if (times_[first] == 0) continue;
            std::uint64_t addresses[kWarpSize];
            for (int lane = 0; lane < kWarpSize; ++lane) addresses[lane] = first + distances_[lane];
            visit(warp_access{addresses, active_, width}, times_[first]);
            times_[first] = 0;
        }
    }

private:
    using lane_pair [[gnu::vector_size(16)]] = std::uint64_t;
    static lane_pair pair(const std::uint64_t* lanes) {
        lane_pair result;
        __builtin_memcpy(&result, lanes, sizeof result);
        return result;
    }

    std::uint32_t active_ = 0;                 // 0: nothing added yet
    int end_ = 0;                              // one past the last active lane
    std::uint64_t distances_[kWarpSize] = {};  // from the first active lane
    std::uint64_t masks_[kWarpSize] = {};      // all ones for active lanes
    std::array<std::uint64_t, kBankRowBytes> times_{};
};

}  // namespace cornerturn::emulator
