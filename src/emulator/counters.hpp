// What one warp instruction costs, as Nsight Compute counts it on the hardware.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace cornerturn::emulator {

inline constexpr int kWarpSize = 32;
inline constexpr std::uint32_t kBankRowBytes = 128;

enum direction : int { kLoad = 0, kStore = 1 };

// Sums over warp instructions; index [kLoad] or [kStore].
struct counters {
    std::array<std::uint64_t, 2> global_requests{};  // l1tex__t_requests_pipe_lsu_mem_global_op_{ld,st}.sum
    std::array<std::uint64_t, 2> global_sectors{};   // l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum
    std::array<std::uint64_t, 2> shared_requests{};  // smsp__sass_inst_executed_op_shared_{ld,st}.sum
    std::array<std::uint64_t, 2>
        shared_wavefronts{};  // smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{ld,st}.sum
    std::array<std::uint64_t, 2> shared_conflicts{};  // derived: wavefronts above the least that the request could cost

    bool operator==(const counters&) const = default;
    counters& operator+=(const counters& other) { return add(other, 1); }
    counters& add(const counters& other, std::uint64_t times) {
        for (int d : {kLoad, kStore}) {
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

// What a warp instruction's accesses cost, remembered while its lanes keep their distances: sectors and wavefronts then
// depend only on where in a row of banks the first lane's address lies.
class access_costs {
public:
    template <class Count>
    unsigned of(const warp_access& access, Count count) {
        if (!keeps_distances(access)) note_distances(access);
        std::uint8_t& cost = costs_[access.addresses[std::countr_zero(access.active)] % kBankRowBytes];
        if (cost == 0) cost = static_cast<std::uint8_t>(count(access));
        return cost;
    }

private:
    bool keeps_distances(const warp_access& access) const;
    void note_distances(const warp_access& access);

    std::uint32_t active_ = 0;
    std::uint64_t distances_[kWarpSize] = {};          // from the first active lane
    std::array<std::uint8_t, kBankRowBytes> costs_{};  // 0: not counted yet
};

// The fewest wavefronts that these active lanes at this width could cost: one for each group of lanes that the
// hardware serves apart (the warp; half-warps at 8 bytes; quarter-warps at 16).
unsigned least_wavefronts(std::uint32_t active, unsigned width);

}  // namespace cornerturn::emulator
