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

// How long a launch takes, fitted to 200,000 timings of 3,500 products on H100 and H200 (docs/experiments.md). Other
// GPUs get the same: it is the proportions that decide. Where a multiprocessor has b blocks of s steps at a time, they
// take
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
    int slices;  // of a step's k, each by warps of its own
    // tiles, dots: of k, that a slice has in a step; steps in shared memory. outer: the most k
    int deep, stages;
    int warps_down, warps_across;  // tiles: the warps of a slice
    int down, across;              // of C, that a thread has, or a warp of `dots`
    int resident;                  // blocks that a multiprocessor holds, as far as registers go
    // Steps that are summed at a time, in whole tiles and in parts: powers of two. columns: products of a lane's.
    int chunk, part_chunk;
    gemm_costs costs;

    constexpr int threads() const { return slices * warps_down * warps_across * 32; }
    // columns: as many as make 16 loads.
    constexpr int depth() const { return slices * (way == gemm_way::columns ? 16 / down : deep); }
    // Tiles: whether k's neighbours are copied 16 bytes at a time, where they are aligned. With 64 sums a thread that
    // gains nothing, and with 128 there are no registers to load so: they come a float at a time (docs/experiments.md,
    // 132).
    constexpr bool takes_fours_along_k() const { return way == gemm_way::tiles && down * across <= 32; }
    constexpr bool takes(std::int64_t k) const { return way != gemm_way::outer || k <= deep; }
    // outer: tiles begin up to so many columns to the left of a multiple of `cols`, where stores are aligned. `c_off`
    // is 0 where all rows of C are aligned to 8 floats (policy.hpp).
    constexpr int left(int c_off) const {
        return way == gemm_way::outer && c_off % warps_down != 0 ? warps_down - 1 : 0;
    }
    // Of shared memory, at most: tiles' stages and sums of chunks, or their slices' sums over both; outer's A and B;
    // what each warp of dots has of A's rows.
    constexpr int shared_bytes(bool chunks) const {
        if (way == gemm_way::outer) return 4 * (rows * (deep + 4) + deep * (cols + warps_down + across));
        if (way == gemm_way::dots) return 4 * threads() / 32 * stages * down * (deep + 4);
        if (way == gemm_way::columns) return 0;
        // With four floats unused for each of k, or four for each four rows of C where k's elements are neighbours.
        const auto in_stage = [&](int extent) {
            return extent * depth() + (takes_fours_along_k() && extent > 4 * depth() ? extent : 4 * depth());
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
     {0.526, 0.371, 5.19, 0.142, 106.3, {1.10, 1.17, 1.16}, {1.11, 1.17, 1.15}, 1.44}},
    {"medium", kTiles, 128, 64, 2, 8, 3, 2, 1, 16, 8, 2, 64, 64,
     {0.617, 0.329, 3.84, 0.040, 50.4, {1.04, 1.27, 1.21}, {1.07, 1.10, 1.06}, 1.17}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8,
     {0.141, 0.309, 2.64, 0.015, 24.1, {1.05, 1.04, 1.06}, {1.09, 1.12, 1.08}, 1.63}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64,
     {0.581, 0.470, 2.32, 1.081, 139.1, {1.06, 1.08, 1.15}, {1.12, 1.09, 1.04}, 1.00}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8,
     {0.086, 0.305, 1.00, 0.010, 9.8, {1.03, 1.11, 1.02}, {1.06, 1.09, 1.07}, 1.77}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8,
     {0.384, 0.027, 0.02, 0.992, 11.0, {1.10, 1.25, 1.10}, {1.07, 1.19, 1.10}, 0.41}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16,
     {0.248, 0.388, 1.86, 1.305, 52.1, {1.13, 1.48, 1.44}, {1.03, 1.18, 1.19}, 1.35}},
    {"thin", kTiles, 128, 16, 2, 16, 2, 2, 1, 8, 4, 4, 4, 4,
     {0.340, 0.580, 0.03, 0.691, 14.6, {1.26, 1.53, 1.08}, {0.98, 1.00, 1.06}, 0.23}},
    {"dots of 2", kDots, 16, 2, 1, 256, 2, 4, 1, 4, 2, 4, 4, 4,
     {0.131, 0.818, 3.43, 0.089, 24.9, {1.00, 0.81, 0.65}, {0.84, 0.82, 0.83}, 0.32}},
    {"dots of 4", kDots, 32, 4, 1, 128, 3, 4, 1, 8, 4, 3, 8, 8,
     {0.206, 0.553, 3.41, 0.071, 17.4, {2.34, 0.75, 0.60}, {3.03, 1.18, 1.14}, 0.12}},
    {"dots of 8", kDots, 16, 8, 1, 128, 3, 4, 1, 4, 8, 3, 8, 8,
     {0.091, 0.259, 2.05, 0.378, 7.1, {1.88, 1.00, 0.85}, {1.77, 1.38, 1.22}, 0.67}},
    {"dots of 2, sliced", kDots, 4, 2, 4, 256, 3, 1, 1, 4, 2, 4, 4, 4,
     {0.106, 0.957, 2.96, 0.093, 30.9, {1.00, 0.69, 0.64}, {0.79, 0.76, 0.67}, 0.48}},
    {"dots of 4, sliced", kDots, 8, 4, 4, 128, 3, 1, 1, 8, 4, 3, 8, 8,
     {0.100, 0.597, 2.39, 0.086, 6.2, {2.09, 0.35, 0.35}, {5.31, 1.78, 1.41}, 0.44}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 64, 64,
     {0.296, 1.072, 4.59, 0.087, 11.1, {1.35, 1.00, 1.00}, {0.82, 0.98, 0.80}, 0.82}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 64, 64,
     {0.339, 0.782, 3.54, 0.096, 42.4, {1.14, 1.00, 1.00}, {0.95, 0.98, 0.94}, 0.31}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 64, 64,
     {0.350, 1.199, 4.11, 0.093, 9.4, {1.65, 1.00, 1.00}, {0.73, 0.93, 0.55}, 0.18}},
    {"outer of 8", kOuter, 64, 128, 1, 8, 1, 8, 1, 8, 4, 4, 1, 1,
     {0.073, 1.125, 1.04, 0.033, 10.2, {0.79, 1.02, 0.88}, {1.00, 0.85, 0.93}, 1.82}},
    {"outer of 16", kOuter, 128, 128, 1, 16, 1, 4, 1, 32, 4, 5, 1, 1,
     {0.408, 7.517, 3.95, 0.053, 29.0, {0.94, 1.08, 0.92}, {0.92, 0.96, 0.97}, 1.59}},
    {"outer of 16, small", kOuter, 64, 64, 1, 16, 1, 8, 1, 8, 2, 4, 1, 1,
     {0.170, 2.729, 1.46, 0.071, 22.8, {0.97, 1.22, 0.86}, {0.74, 0.69, 0.70}, 0.98}},
};
// clang-format on
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// What takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::production
