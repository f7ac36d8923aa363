// The cost of one warp instruction, as Nsight Compute counts it on the hardware.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace cornerturn::emulator {

inline constexpr int kWarpSize = 32;
inline constexpr int kSectorBytes = 32;  // of global memory
inline constexpr std::uint32_t kBankRowBytes = 128;

// kReduction: an atomic in global memory whose old value is not used. kAtomic: any other atomic. kCopied: the store of
// an asynchronous copy, which none of the counters below counts.
enum direction : int { kLoad = 0, kStore = 1, kReduction = 2, kAtomic = 3, kCopied = 4 };
inline constexpr int kDirections = 4;  // the counted ones

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

// The addresses of one warp instruction: addresses[lane] is valid if bit `lane` of `active` is set.
struct warp_access {
    const std::uint64_t* addresses;
    std::uint32_t active;
    unsigned width;  // bytes: 1, 2, 4, 8 or 16
};

// The number of distinct 32-byte sectors. Accesses are aligned to their width, so each lies in one sector.
unsigned count_sectors(const warp_access& access);

// Groups of lanes that shared memory serves one after the other: the warp; half-warps at 8 bytes; quarter-warps at 16.
// Loads may merge groups: the warp at 8 bytes, or a half-warp at 16, is one group if its lanes pair up and no bank
// holds two of its words. Lanes pair up if every active lane's neighbour is inactive or has the same address, or if
// this holds for every one's second neighbour. Measured on an H200: results/shared/.
struct lane_groups {
    std::array<std::uint32_t, 4> lanes{};  // one mask for each group
    int count = 0;
};
lane_groups groups_of(const warp_access& access, direction op);

// The sectors of an atomic in global memory. Each sector counts as often as there are lanes at its most used address.
unsigned count_atomic_sectors(const warp_access& access);

// The highest number of lanes in one bank. An atomic in shared memory serves these lanes one after the other.
unsigned most_lanes_in_a_bank(const warp_access& access);

// Counts shared-memory wavefronts. It keeps a stamp for each word of the 256 KiB that a block can address, so that one
// look-up tells whether a word is new.
class wavefront_counter {
public:
    unsigned count(const warp_access& access, direction op);

private:
    unsigned count_group(const warp_access& access, std::uint32_t group);

    static constexpr std::size_t kWords = 1 << 16;
    std::array<std::uint32_t, kWords> stamp_of_word_{};
    std::uint32_t stamp_ = 0;
};

// The fewest wavefronts that these active lanes can cost at this width: one for each group of lanes that the hardware
// serves separately (the warp; half-warps at 8 bytes; quarter-warps at 16).
unsigned least_wavefronts(std::uint32_t active, unsigned width);

// Counts the executions of a warp instruction while the distances between its lanes' addresses stay the same. It counts
// separately for each offset of the first lane in a row of banks. Sectors and wavefronts depend on nothing else, so
// they are computed later.
class access_tally {
public:
    // Returns false, and adds nothing, if the distances between the lanes' addresses have changed.
    bool add(const std::uint64_t* addresses, std::uint32_t active) {
        if (active != active_) return false;
        const std::uint64_t first = addresses[std::countr_zero(active)];
        // Two lanes at a time. Lanes without an access are masked out.
        lane_pair differences{};
        for (int lane = 0; lane < end_; lane += 2) {
            differences |= ((pair(&addresses[lane]) - first) ^ pair(&distances_[lane])) & pair(&masks_[lane]);
        }
        if ((differences[0] | differences[1]) != 0) return false;
        ++times_[first % kBankRowBytes];
        return true;
    }
    // Calls visit(access, times) for all accesses so far, forgets them, and expects the distances of `next`.
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
