// The kernels for products. Each row of this table instantiates one, and the policy chooses among the rows. There is no
// other list. docs/experiments/products.md says what was tried.
#pragma once

#include <cstdint>

namespace cornerturn::products {

enum class gemm_family {
    tiles,    // A and B come through shared memory; a thread has a part of a tile in registers
    dots,     // a warp computes a few rows; its lanes lie along k, and so must A
    columns,  // a lane has four rows and adds up along k; neighbouring rows of A are neighbours in memory
    outer,    // up to `deep` of k: a lane has columns of B in registers, and writes C row by row
};

// How long a launch takes, fitted to 280,000 timings of 5,100 products on an H200 (docs/experiments/products.md). Other
// GPUs use the same costs, because only the proportions decide. If a multiprocessor has b blocks of s steps at a time,
// they take
//     s * slower * sqrt(alone^2 + (b * step)^2) + block + b * each
// So does each further wave of such blocks. `slower` is the product of the factors for A and for B (policy.cpp:
// blocks_us).
struct gemm_costs {
    double step_us, alone_us, block_us, each_us;
    // The rate at which A, B and C are moved once. This time is added to the steps. A high rate means that the steps
    // hide it.
    double memory_tb_s;
    double of_a[3];  // factors on steps for an A that does not come in vectors, in the order of operand_layout
    double of_b[3];  // the same for B
    double odd;      // factor on block_us if C is not aligned to 16 bytes, or is the transpose of what is computed
};

// A block has rows x cols of C, and `depth` of k in a step. For `outer`, a block's warps lie below each other. A warp
// computes `down` rows, one after the other, and a lane computes `across` neighbouring columns of each. Stages and
// chunks are not used there.
struct gemm_kernel {
    const char* name;
    gemm_family family;
    int rows, cols;
    int slices;  // of a step's k, each with warps of its own
    // tiles, dots: a slice's k in a step; steps in shared memory. outer: the most k.
    int deep, stages;
    int warps_down, warps_across;  // tiles: the warps of a slice
    int down, across;              // of C, for a thread, or for a warp of `dots`
    int resident;                  // blocks whose registers fit in a multiprocessor
    // Steps that are summed at a time, in whole tiles and in parts: powers of two. columns: products of a lane.
    int chunk, part_chunk;
    gemm_costs costs;

    constexpr int threads() const { return slices * warps_down * warps_across * 32; }
    // columns: enough for 16 loads.
    constexpr int depth() const { return slices * (family == gemm_family::columns ? 16 / down : deep); }
    // Tiles: whether neighbours along k are copied 16 bytes at a time, if they are aligned. With 64 sums in a thread
    // this gains nothing. With 128 there are no registers for it. Both copy a float at a time
    // (docs/experiments/products.md, 132).
    constexpr bool takes_fours_along_k() const { return family == gemm_family::tiles && down * across <= 32; }
    constexpr bool takes(std::int64_t k) const { return family != gemm_family::outer || k <= deep; }
    // outer: tiles begin up to this many columns to the left of a multiple of `cols`, where stores are aligned. `c_off`
    // is 0 if all rows of C are aligned to 8 floats (policy.hpp).
    constexpr int left(int c_off) const {
        return family == gemm_family::outer && c_off % warps_down != 0 ? warps_down - 1 : 0;
    }
    // The most shared memory. tiles: stages and sums of chunks, or the slices' sums over both. outer: A and B. dots:
    // A's rows for each warp.
    constexpr int shared_bytes(bool chunks) const {
        if (family == gemm_family::outer) return 4 * (rows * (deep + 4) + deep * (cols + warps_down + across));
        if (family == gemm_family::dots) return 4 * threads() / 32 * stages * down * (deep + 4);
        if (family == gemm_family::columns) return 0;
        // With padding of four floats for each of k; or, if elements along k are neighbours, for every four rows of C.
        const auto in_stage = [&](int extent) {
            return extent * depth() + (takes_fours_along_k() && extent > 4 * depth() ? extent : 4 * depth());
        };
        const int in_stages = stages * (in_stage(rows) + in_stage(cols)), sums = rows * (cols + 4) * slices;
        const int in_loop = in_stages + (chunks ? rows * cols * slices : 0);
        return 4 * (in_loop > sums || slices == 1 ? in_loop : sums);
    }
};

constexpr auto kTiles = gemm_family::tiles, kDots = gemm_family::dots, kColumns = gemm_family::columns,
               kOuter = gemm_family::outer;
// clang-format off
inline constexpr gemm_kernel kGemmKernels[] = {
    {"large", kTiles, 128, 128, 1, 8, 4, 2, 2, 16, 8, 2, 64, 64,
     {0.540, 0.394, 4.64, 0.136, 120.6, {1.08, 1.10, 1.12}, {1.07, 1.10, 1.06}, 1.38}},
    {"medium", kTiles, 128, 64, 2, 8, 3, 2, 1, 16, 8, 2, 64, 64,
     {0.619, 0.289, 3.14, 0.037, 96.4, {1.06, 1.17, 1.17}, {1.02, 1.07, 1.04}, 1.43}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8,
     {0.145, 0.317, 2.27, 0.016, 23.9, {1.04, 1.02, 1.04}, {1.06, 1.07, 1.05}, 1.61}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64,
     {0.580, 0.409, 2.09, 0.882, 203.5, {1.08, 1.06, 1.11}, {1.10, 1.09, 1.06}, 1.31}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8,
     {0.086, 0.379, 1.45, 0.010, 15.0, {1.08, 1.15, 0.94}, {1.06, 1.11, 1.05}, 1.35}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8,
     {0.363, 0.216, 0.02, 1.193, 12.2, {1.18, 1.25, 1.10}, {1.19, 1.25, 1.08}, 0.40}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16,
     {0.234, 0.456, 1.56, 1.341, 24.3, {1.15, 1.33, 1.34}, {1.05, 1.14, 1.12}, 1.66}},
    {"thin", kTiles, 128, 16, 2, 16, 2, 2, 1, 8, 4, 4, 4, 4,
     {0.368, 0.618, 0.03, 0.741, 14.6, {1.25, 1.61, 1.06}, {0.92, 0.92, 0.98}, 0.21}},
    {"dots of 2", kDots, 16, 2, 1, 256, 2, 4, 1, 4, 2, 4, 4, 4,
     {0.340, 0.724, 3.14, 0.094, 20.3, {1.00, 0.99, 1.01}, {1.17, 1.00, 0.97}, 0.33}},
    {"dots of 4", kDots, 32, 4, 1, 128, 3, 4, 1, 8, 4, 3, 8, 8,
     {0.369, 0.659, 3.61, 0.079, 16.7, {2.34, 1.02, 0.95}, {1.11, 0.97, 0.89}, 0.44}},
    {"dots of 8", kDots, 16, 8, 1, 128, 3, 4, 1, 4, 8, 3, 8, 8,
     {0.147, 0.384, 0.82, 0.607, 17.8, {1.88, 1.40, 1.43}, {1.92, 0.91, 0.92}, 0.62}},
    {"dots of 2, sliced", kDots, 4, 2, 4, 256, 3, 1, 1, 4, 2, 4, 4, 4,
     {0.354, 0.637, 3.54, 0.101, 35.9, {1.00, 1.00, 0.80}, {1.08, 0.78, 0.84}, 0.72}},
    {"dots of 4, sliced", kDots, 8, 4, 4, 128, 3, 1, 1, 8, 4, 3, 8, 8,
     {0.476, 0.518, 3.32, 0.132, 13.1, {2.09, 0.65, 0.59}, {1.33, 0.97, 1.04}, 0.80}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 64, 64,
     {0.237, 1.185, 4.54, 0.084, 12.0, {1.09, 1.00, 1.00}, {0.82, 0.84, 0.83}, 0.75}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 64, 64,
     {0.249, 0.872, 3.42, 0.096, 52.3, {0.98, 1.00, 1.00}, {0.96, 0.95, 0.96}, 0.30}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 64, 64,
     {0.358, 1.085, 4.23, 0.089, 10.2, {1.19, 1.00, 1.00}, {0.79, 0.70, 0.62}, 0.15}},
    {"outer of 8", kOuter, 64, 128, 1, 8, 1, 8, 1, 8, 4, 4, 1, 1,
     {0.073, 1.100, 0.90, 0.033, 10.9, {0.99, 1.17, 1.02}, {0.84, 0.74, 0.82}, 1.63}},
    {"outer of 16", kOuter, 128, 128, 1, 16, 1, 4, 1, 32, 4, 5, 1, 1,
     {0.400, 7.965, 3.45, 0.052, 30.0, {1.22, 1.32, 0.99}, {0.76, 0.70, 0.85}, 1.37}},
    {"outer of 16, small", kOuter, 64, 64, 1, 16, 1, 8, 1, 8, 2, 4, 1, 1,
     {0.175, 2.320, 2.02, 0.073, 25.0, {1.29, 1.16, 0.82}, {1.01, 0.75, 0.64}, 0.51}},
};
// clang-format on
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// The row that takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::products
