// The kernels for products: each row of this table instantiates one, and the policy chooses among the rows. There is no
// other list. docs/experiments.md has what was tried.
#pragma once

#include <cstdint>

namespace cornerturn::production {

enum class gemm_way {
    tiles,    // A and B come through shared memory, a thread has a part of a tile in registers
    dots,     // a warp computes a few rows: its lanes lie along k, as A must
    columns,  // a lane has four rows, and adds up along k: neighbouring rows of A are neighbours in memory
    outer,    // up to `deep` of k: a lane has columns of B in registers, and writes C row by row
};

// How long a launch takes, fitted to 200,000 timings of 3,500 products on H100 and H200 (docs/experiments.md). Other GPUs get
// the same: it is the proportions that decide. Where a multiprocessor has b blocks of s steps at a time, they take
//     s * slower * sqrt(alone^2 + (b * step)^2) + block + b * each
// and so does each wave of such blocks; `slower` is the product of the factors for A and for B (policy.cpp: blocks_us).
struct gemm_costs {
    double step_us, alone_us, block_us, each_us;
    double memory_tb_s;  // A, B and C, once each, take as long as at this rate, besides: high where steps hide it
    double of_a[3];      // factors on steps where A comes otherwise than in vectors, in the order of gemm_path
    double of_b[3];      // and for B
    double odd;  // factor on block_us where C is not aligned to 16 bytes, or is the transpose of what is computed
};

// A block has rows x cols of C, and in a step `depth` of k. Of `outer`, a block's warps lie below each other, a warp
// computes `down` rows, one after the other, and a lane `across` neighbouring columns of each; stages and chunks mean
// nothing.
struct gemm_kernel {
    const char* name;
    gemm_way way;
    int rows, cols;
    int slices;                    // of a step's k, each by warps of its own
    int deep, stages;              // tiles: of k, that a slice has in a step; steps in shared memory. outer: the most k
    int warps_down, warps_across;  // tiles: the warps of a slice
    int down, across;              // of C, that a thread has, or a warp of `dots`
    int resident;                  // blocks that a multiprocessor holds, as far as registers go
    int chunk, part_chunk;         // steps that are summed at a time, in whole tiles and in parts: powers of two
    gemm_costs costs;

    constexpr int threads() const { return slices * warps_down * warps_across * 32; }
    // dots: 32 of k for each slice; columns: as many as make 16 loads.
    constexpr int depth() const {
        return slices * (way == gemm_way::dots ? 32 : way == gemm_way::columns ? 16 / down : deep);
    }
    // Tiles: whether k's neighbours are copied 16 bytes at a time, where they are aligned. More sums leave no registers
    // to load so: they come a float at a time (docs/experiments.md, 132).
    constexpr bool takes_fours_along_k() const { return way == gemm_way::tiles && down * across <= 32; }
    constexpr bool takes(std::int64_t k) const { return way != gemm_way::outer || k <= deep; }
    // outer: tiles begin up to so many columns to the left of a multiple of `cols`, where stores are aligned. `c_off`
    // is 0 where all rows of C are aligned to 8 floats (policy.hpp).
    constexpr int left(int c_off) const {
        return way == gemm_way::outer && c_off % warps_down != 0 ? warps_down - 1 : 0;
    }
    // Of shared memory, at most: tiles' stages and sums of chunks, or their slices' sums over both; outer's A and B.
    constexpr int shared_bytes(bool chunks) const {
        if (way == gemm_way::outer) return 4 * (rows * (deep + 4) + deep * (cols + warps_down + across));
        if (way != gemm_way::tiles) return 0;
        const auto in_stage = [&](int extent) {
            return extent * depth() + (extent > 4 * depth() ? extent : 4 * depth());
        };
        const int in_stages = stages * (in_stage(rows) + in_stage(cols)), sums = rows * (cols + 4) * slices;
        const int in_loop = in_stages + (chunks ? rows * cols * slices : 0);
        return 4 * (in_loop > sums || slices == 1 ? in_loop : sums);
    }
};

constexpr auto kTiles = gemm_way::tiles, kDots = gemm_way::dots, kColumns = gemm_way::columns, kOuter = gemm_way::outer;
// clang-format off
inline constexpr gemm_kernel kGemmKernels[] = {
    {"large", kTiles, 128, 128, 1, 8, 4, 2, 2, 16, 8, 2, 64, 64,
     {0.526, 0.368, 5.20, 0.141, 93.9, {1.10, 1.17, 1.16}, {1.10, 1.17, 1.15}, 1.43}},
    {"medium", kTiles, 128, 64, 2, 8, 3, 2, 1, 16, 8, 2, 64, 64,
     {0.617, 0.330, 3.82, 0.044, 44.2, {1.04, 1.27, 1.21}, {1.07, 1.10, 1.06}, 1.17}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8,
     {0.142, 0.306, 2.63, 0.015, 22.7, {1.05, 1.04, 1.06}, {1.10, 1.12, 1.08}, 1.62}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64,
     {0.582, 0.470, 2.32, 1.074, 120.5, {1.06, 1.08, 1.14}, {1.12, 1.09, 1.04}, 1.01}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8,
     {0.086, 0.314, 0.96, 0.010, 9.9, {1.03, 1.11, 1.03}, {1.06, 1.09, 1.07}, 1.85}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8,
     {0.384, 0.026, 0.02, 0.986, 10.8, {1.10, 1.25, 1.10}, {1.07, 1.19, 1.10}, 0.42}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16,
     {0.248, 0.386, 1.86, 1.301, 49.3, {1.13, 1.48, 1.45}, {1.03, 1.18, 1.19}, 1.35}},
    {"thin", kTiles, 128, 16, 2, 16, 2, 2, 1, 8, 4, 4, 4, 4,
     {0.340, 0.577, 0.03, 0.690, 14.6, {1.26, 1.54, 1.09}, {0.98, 1.00, 1.06}, 0.23}},
    {"dots of 2", kDots, 64, 2, 1, 0, 0, 8, 1, 8, 2, 2, 256, 256,
     {0.138, 0.787, 3.34, 0.090, 21.2, {1.00, 0.81, 0.65}, {0.84, 0.83, 0.83}, 0.33}},
    {"dots of 4", kDots, 64, 4, 1, 0, 0, 8, 1, 8, 4, 2, 256, 256,
     {0.196, 0.560, 3.38, 0.072, 15.4, {2.34, 0.74, 0.59}, {3.08, 1.18, 1.14}, 0.13}},
    {"dots of 8", kDots, 32, 8, 1, 0, 0, 8, 1, 4, 8, 2, 256, 256,
     {0.094, 0.258, 2.08, 0.346, 7.4, {1.88, 1.02, 0.86}, {1.76, 1.37, 1.22}, 0.60}},
    {"dots of 2, sliced", kDots, 8, 2, 8, 0, 0, 1, 1, 8, 2, 2, 256, 256,
     {0.107, 0.939, 2.95, 0.093, 26.9, {1.00, 0.68, 0.64}, {0.79, 0.76, 0.66}, 0.49}},
    {"dots of 4, sliced", kDots, 8, 4, 8, 0, 0, 1, 1, 8, 4, 2, 256, 256,
     {0.100, 0.646, 2.38, 0.085, 6.6, {2.09, 0.37, 0.36}, {4.83, 1.67, 1.37}, 0.43}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 256, 256,
     {0.286, 1.081, 4.58, 0.088, 10.6, {1.36, 1.00, 1.00}, {0.81, 0.97, 0.79}, 0.83}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 256, 256,
     {0.338, 0.775, 3.52, 0.097, 38.8, {1.14, 1.00, 1.00}, {0.95, 0.98, 0.94}, 0.34}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 256, 256,
     {0.391, 1.144, 4.06, 0.095, 9.6, {1.64, 1.00, 1.00}, {0.75, 0.92, 0.57}, 0.21}},
    {"outer of 8", kOuter, 64, 128, 1, 8, 1, 8, 1, 8, 4, 4, 1, 1,
     {0.075, 1.118, 1.04, 0.034, 10.2, {0.81, 1.03, 0.86}, {0.98, 0.83, 0.95}, 1.81}},
    {"outer of 16", kOuter, 128, 128, 1, 16, 1, 4, 1, 32, 4, 5, 1, 1,
     {0.428, 7.461, 3.96, 0.054, 28.6, {0.95, 1.09, 0.91}, {0.90, 0.95, 0.98}, 1.60}},
    {"outer of 16, small", kOuter, 64, 64, 1, 16, 1, 8, 1, 8, 2, 4, 1, 1,
     {0.168, 2.659, 1.50, 0.068, 19.8, {0.96, 1.23, 0.85}, {0.73, 0.67, 0.70}, 1.00}},
};
// clang-format on
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// What takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::production
