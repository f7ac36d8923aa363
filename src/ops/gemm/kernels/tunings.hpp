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

// How long a block takes, on one multiprocessor: fitted to 74,000 timings of 812 random products on an H100
// (docs/experiments.md). Other GPUs get the same: it is the proportions that decide.
struct gemm_costs {
    double step_us;      // a step along k, for each block that the multiprocessor has at a time
    double alone_us;     // a step of a block that has the multiprocessor to itself
    double block_us;     // what a block costs besides: its first loads, its stores
    double each_us;      // and for each block that the multiprocessor has at a time
    double memory_tb_s;  // how fast A, B and C come and go, beyond what steps wait for
    double of_a[2];      // factors on a step, where A comes in words, and where it lies along k
    double of_b[2];      // and for B
    double odd;          // factor on block_us where C is not stored by fours
};

// A block has rows x cols of C, and in a step `depth` of k.
struct gemm_kernel {
    const char* name;
    gemm_way way;
    int rows, cols;
    int slices;                    // of a step's k, each by warps of its own
    int deep, stages;              // tiles: of k, that a slice has in a step; steps that are in shared memory at a time
    int warps_down, warps_across;  // tiles: the warps of a slice
    int down, across;              // of C, that a thread has, or a warp of `dots`
    int resident;                  // blocks that a multiprocessor holds, as far as registers go
    int chunk, part_chunk;         // steps that are summed at a time, in whole tiles and in parts: powers of two
    gemm_costs costs;

    constexpr int threads() const { return slices * warps_down * warps_across * 32; }
    // dots: 32 of k for each slice; columns: as many as make 16 loads.
    constexpr int depth() const {
        const bool along_lanes = way == gemm_way::dots, loads = way == gemm_way::columns;
        return slices * (along_lanes ? 32 : loads ? 16 / down : deep);
    }
    constexpr bool takes(std::int64_t k) const { return way != gemm_way::outer || k <= deep; }
    // outer: so many columns to the left of where they seem tiles may begin.
    constexpr int left() const { return way == gemm_way::outer ? warps_down - 1 : 0; }
    // Of dynamic shared memory, at most: tiles' stages, or their slices' sums, and sums of chunks.
    constexpr int shared_bytes(bool chunks) const {
        if (way != gemm_way::tiles) return 0;
        const int in_stages = stages * depth() * (rows + cols + 8), sums = rows * (cols + 4) * slices;
        const int in_loop = in_stages + (chunks ? rows * cols * slices : 0);
        return 4 * (in_loop > sums || slices == 1 ? in_loop : sums);
    }
};

constexpr auto kTiles = gemm_way::tiles, kDots = gemm_way::dots, kColumns = gemm_way::columns, kOuter = gemm_way::outer;
// clang-format off
inline constexpr gemm_kernel kGemmKernels[] = {
    {"large", kTiles, 128, 128, 1, 8, 4, 2, 2, 16, 8, 2, 128, 64,
     {0.530, 0.327, 5.41, 0.123, 31.1, {1.10, 1.16}, {1.11, 1.16}, 2.48}},
    {"medium", kTiles, 128, 64, 2, 8, 3, 2, 1, 16, 8, 2, 128, 64,
     {0.607, 0.345, 3.49, 0.078, 18.1, {1.03, 1.23}, {1.10, 1.08}, 1.65}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8,
     {0.142, 0.223, 1.78, 0.028, 9.4, {1.02, 1.21}, {1.09, 1.27}, 1.89}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64,
     {0.593, 0.472, 1.23, 1.511, 57.6, {1.03, 1.08}, {1.12, 1.05}, 2.02}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8,
     {0.084, 0.187, 0.92, 0.003, 4.4, {1.01, 1.21}, {1.07, 1.27}, 1.77}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8,
     {0.374, 0.028, 0.02, 1.012, 8.9, {1.08, 1.18}, {1.14, 1.24}, 0.45}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16,
     {0.249, 0.392, 1.64, 1.185, 13.1, {1.14, 1.58}, {1.01, 1.06}, 1.84}},
    {"thin", kTiles, 128, 16, 2, 8, 4, 2, 1, 8, 4, 4, 32, 8,
     {0.181, 0.138, 0.12, 0.598, 6.1, {1.22, 1.77}, {1.00, 1.00}, 0.17}},
    {"dots of 2", kDots, 64, 2, 1, 0, 0, 8, 1, 8, 2, 2, 256, 256,
     {0.275, 0.476, 1.81, 0.095, 6.4, {1.00, 0.81}, {0.92, 0.87}, 0.58}},
    {"dots of 4", kDots, 64, 4, 1, 0, 0, 8, 1, 8, 4, 2, 256, 256,
     {0.165, 0.452, 1.94, 0.082, 3.8, {2.34, 0.54}, {3.70, 1.06}, 0.22}},
    {"dots of 8", kDots, 32, 8, 1, 0, 0, 8, 1, 4, 8, 2, 256, 256,
     {0.074, 0.194, 3.96, 0.146, 5.3, {1.88, 0.73}, {2.46, 1.99}, 0.36}},
    {"dots of 2, sliced", kDots, 8, 2, 8, 0, 0, 1, 1, 8, 2, 2, 256, 256,
     {0.118, 0.878, 2.95, 0.093, 11.6, {1.00, 0.67}, {0.83, 0.70}, 0.37}},
    {"dots of 4, sliced", kDots, 8, 4, 8, 0, 0, 1, 1, 8, 4, 2, 256, 256,
     {0.127, 0.638, 2.61, 0.096, 9.8, {2.09, 0.50}, {4.00, 1.48}, 0.56}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 256, 256,
     {0.296, 0.960, 4.24, 0.095, 5.2, {1.20, 1.00}, {0.86, 0.83}, 0.89}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 256, 256,
     {0.432, 0.835, 3.28, 0.095, 17.1, {1.01, 1.00}, {0.93, 0.91}, 0.58}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 256, 256,
     {0.989, 1.032, 1.83, 0.105, 7.8, {1.07, 1.00}, {1.03, 0.99}, 0.86}},
    {"outer of 8", kOuter, 64, 128, 1, 8, 1, 8, 1, 8, 4, 4, 1, 1,
     {0.109, 0.594, 0.73, 0.043, 7.2, {0.99, 1.21}, {0.95, 1.15}, 1.76}},
    {"outer of 16", kOuter, 128, 128, 1, 16, 1, 4, 1, 32, 4, 5, 1, 1,
     {0.532, 7.402, 3.89, 0.057, 24.4, {0.88, 1.03}, {0.91, 1.02}, 1.45}},
    {"outer of 16, small", kOuter, 64, 64, 1, 16, 1, 8, 1, 8, 2, 4, 1, 1,
     {0.139, 1.643, 1.68, 0.047, 10.9, {1.29, 1.39}, {0.79, 0.89}, 0.64}},
};
// clang-format on
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// What takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::production
