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

// How long a launch takes, fitted to 120,000 timings of 1,500 products on an H100 (docs/experiments.md). Other GPUs get
// the same: it is the proportions that decide. Where a multiprocessor has b blocks of s steps at a time, they take
//     s * slower * sqrt(alone^2 + (b * step)^2) + block + b * each
// and so does each wave of such blocks; `slower` is the product of the factors for A and for B (policy.cpp: blocks_us).
struct gemm_costs {
    double step_us, alone_us, block_us, each_us;
    double memory_tb_s;  // A, B and C, once each, take as long as at this rate, besides: high where steps hide it
    double of_a[2];      // factors on steps, where A comes in words, and where it lies along k
    double of_b[2];      // and for B
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
        const int in_stages = stages * depth() * (rows + cols + 8), sums = rows * (cols + 4) * slices;
        const int in_loop = in_stages + (chunks ? rows * cols * slices : 0);
        return 4 * (in_loop > sums || slices == 1 ? in_loop : sums);
    }
};

constexpr auto kTiles = gemm_way::tiles, kDots = gemm_way::dots, kColumns = gemm_way::columns, kOuter = gemm_way::outer;
// clang-format off
inline constexpr gemm_kernel kGemmKernels[] = {
    {"large", kTiles, 128, 128, 1, 8, 4, 2, 2, 16, 8, 2, 64, 64,
     {0.533, 0.332, 5.41, 0.136, 34.1, {1.10, 1.15}, {1.10, 1.15}, 2.40}},
    {"medium", kTiles, 128, 64, 2, 8, 3, 2, 1, 16, 8, 2, 64, 64,
     {0.609, 0.329, 3.48, 0.076, 18.2, {1.02, 1.23}, {1.10, 1.08}, 1.65}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8,
     {0.142, 0.219, 1.82, 0.026, 9.1, {1.03, 1.21}, {1.08, 1.26}, 1.84}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64,
     {0.589, 0.482, 1.09, 1.574, 62.9, {1.03, 1.09}, {1.11, 1.05}, 2.13}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8,
     {0.084, 0.173, 0.96, 0.002, 4.4, {1.01, 1.22}, {1.05, 1.27}, 1.73}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8,
     {0.371, 0.024, 0.02, 1.018, 8.7, {1.09, 1.19}, {1.15, 1.23}, 0.43}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16,
     {0.247, 0.392, 1.56, 1.200, 11.6, {1.14, 1.59}, {1.01, 1.06}, 1.89}},
    {"thin", kTiles, 128, 16, 2, 8, 4, 2, 1, 8, 4, 4, 8, 8,
     {0.182, 0.127, 0.07, 0.585, 5.8, {1.21, 1.80}, {1.00, 1.01}, 0.17}},
    {"dots of 2", kDots, 64, 2, 1, 0, 0, 8, 1, 8, 2, 2, 256, 256,
     {0.236, 0.523, 2.07, 0.094, 5.8, {1.00, 0.77}, {0.89, 0.85}, 0.47}},
    {"dots of 4", kDots, 64, 4, 1, 0, 0, 8, 1, 8, 4, 2, 256, 256,
     {0.128, 0.594, 2.10, 0.076, 4.6, {2.34, 0.55}, {3.34, 1.10}, 0.18}},
    {"dots of 8", kDots, 32, 8, 1, 0, 0, 8, 1, 4, 8, 2, 256, 256,
     {0.080, 0.195, 3.43, 0.210, 5.3, {1.88, 0.77}, {2.32, 1.90}, 0.35}},
    {"dots of 2, sliced", kDots, 8, 2, 8, 0, 0, 1, 1, 8, 2, 2, 256, 256,
     {0.113, 0.908, 3.06, 0.094, 12.9, {1.00, 0.67}, {0.83, 0.70}, 0.43}},
    {"dots of 4, sliced", kDots, 8, 4, 8, 0, 0, 1, 1, 8, 4, 2, 256, 256,
     {0.109, 0.506, 2.38, 0.077, 4.7, {2.09, 0.34}, {6.31, 1.89}, 0.21}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 256, 256,
     {0.277, 0.996, 4.13, 0.093, 4.9, {1.18, 1.00}, {0.85, 0.81}, 0.89}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 256, 256,
     {0.436, 0.858, 3.45, 0.095, 20.1, {1.01, 1.00}, {0.93, 0.92}, 0.62}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 256, 256,
     {1.000, 0.948, 1.74, 0.104, 7.6, {1.13, 1.00}, {1.05, 0.90}, 0.82}},
    {"outer of 8", kOuter, 64, 128, 1, 8, 1, 8, 1, 8, 4, 4, 1, 1,
     {0.093, 0.611, 0.69, 0.039, 6.9, {0.99, 1.20}, {1.01, 1.17}, 1.84}},
    {"outer of 16", kOuter, 128, 128, 1, 16, 1, 4, 1, 32, 4, 5, 1, 1,
     {0.532, 7.561, 4.00, 0.057, 27.0, {0.88, 1.03}, {0.93, 1.02}, 1.44}},
    {"outer of 16, small", kOuter, 64, 64, 1, 16, 1, 8, 1, 8, 2, 4, 1, 1,
     {0.125, 1.702, 1.71, 0.044, 12.1, {1.32, 1.37}, {0.84, 0.94}, 0.60}},
};
// clang-format on
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// What takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::production
