// The kernels for products: each row of this table instantiates one, and the policy chooses among the rows. There is no
// other list. docs/experiments.md has what was tried.
#pragma once

namespace cornerturn::production {

enum class gemm_way {
    tiles,    // A and B come through shared memory, a thread has a part of a tile in registers
    dots,     // a warp computes a few rows: its lanes lie along k, as A must
    columns,  // a lane has four rows, and adds up along k: neighbouring rows of A are neighbours in memory
};

// How long a block takes, on one multiprocessor: fitted to 55,000 timings of 680 random products on an H100
// (docs/experiments.md). Other GPUs get the same: it is the proportions that decide.
struct gemm_costs {
    double step_us;       // a step along k, where the multiprocessor is full of such blocks
    double alone_us;      // a step of a block that has the multiprocessor to itself
    double block_us;      // what each block costs besides: its first loads, its stores
    double unaligned[2];  // factors on a step, for an operand that comes in words and for one along k
    double odd;           // factor on block_us where C is not stored by fours
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
        return slices * (way == gemm_way::tiles ? deep : way == gemm_way::dots ? 32 : 16 / down);
    }
    // Of dynamic shared memory, at most: tiles' stages, or their slices' sums, and sums of chunks.
    constexpr int shared_bytes(bool chunks) const {
        if (way != gemm_way::tiles) return 0;
        const int in_stages = stages * depth() * (rows + cols + 8), sums = rows * (cols + 4) * slices;
        return 4 * ((in_stages > sums || slices == 1 ? in_stages : sums) + (chunks ? rows * cols * slices : 0));
    }
};

constexpr auto kTiles = gemm_way::tiles, kDots = gemm_way::dots, kColumns = gemm_way::columns;
inline constexpr gemm_kernel kGemmKernels[] = {
    {"large", kTiles, 128, 128, 1, 8, 4, 2, 2, 16, 8, 2, 128, 64, {0.594, 0.679, 3.10, {1.07, 1.09}, 1.87}},
    {"medium", kTiles, 128, 64, 2, 8, 4, 2, 1, 16, 8, 2, 128, 64, {0.642, 0.707, 2.34, {1.03, 1.10}, 1.75}},
    {"small", kTiles, 64, 64, 1, 8, 4, 1, 2, 8, 8, 6, 32, 8, {0.157, 0.346, 1.97, {1.05, 1.17}, 1.66}},
    {"small, sliced", kTiles, 64, 64, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64, {0.672, 0.732, 2.49, {1.04, 1.11}, 1.23}},
    {"tiny", kTiles, 32, 32, 1, 16, 3, 1, 1, 8, 4, 16, 16, 8, {0.089, 0.401, 1.23, {1.08, 1.30}, 1.49}},
    {"tiny, sliced", kTiles, 32, 32, 8, 8, 4, 1, 1, 8, 4, 2, 8, 8, {0.381, 0.387, 1.39, {1.14, 1.24}, 0.44}},
    {"tall", kTiles, 128, 32, 2, 8, 4, 1, 1, 16, 8, 4, 32, 16, {0.338, 0.702, 3.63, {1.01, 1.20}, 1.33}},
    {"tall, sliced", kTiles, 128, 32, 4, 8, 4, 1, 1, 16, 8, 2, 128, 64, {0.674, 0.698, 3.50, {1.08, 1.14}, 1.05}},
    {"thin", kTiles, 128, 16, 2, 8, 4, 2, 1, 8, 4, 4, 32, 8, {0.190, 0.225, 1.52, {1.10, 1.37}, 0.93}},
    {"dots of 2", kDots, 64, 2, 1, 0, 0, 8, 1, 8, 2, 2, 256, 256, {0.298, 0.551, 1.63, {1.00, 1.00}, 1.00}},
    {"dots of 4", kDots, 64, 4, 1, 0, 0, 8, 1, 8, 4, 2, 256, 256, {0.298, 0.523, 1.70, {2.34, 1.00}, 1.00}},
    {"dots of 8", kDots, 32, 8, 1, 0, 0, 8, 1, 4, 8, 2, 256, 256, {0.142, 0.189, 2.38, {1.88, 1.21}, 1.94}},
    {"dots of 2, sliced", kDots, 8, 2, 8, 0, 0, 1, 1, 8, 2, 2, 256, 256, {0.332, 0.487, 1.43, {1.00, 1.00}, 1.00}},
    {"dots of 4, sliced", kDots, 8, 4, 8, 0, 0, 1, 1, 8, 4, 2, 256, 256, {0.348, 0.586, 1.73, {2.09, 1.00}, 1.00}},
    {"columns of 2", kColumns, 128, 2, 8, 0, 0, 1, 1, 4, 2, 3, 256, 256, {0.404, 1.000, 3.45, {1.00, 1.00}, 1.00}},
    {"columns of 4", kColumns, 128, 4, 8, 0, 0, 1, 1, 4, 4, 2, 256, 256, {0.200, 0.840, 2.50, {1.00, 1.00}, 1.00}},
    {"columns of 1", kColumns, 32, 1, 16, 0, 0, 1, 1, 1, 1, 2, 256, 256, {1.000, 1.000, 1.25, {1.00, 1.00}, 1.00}},
};
inline constexpr int kGemmKernelCount = sizeof kGemmKernels / sizeof kGemmKernels[0];

// What takes operands of any kind, without a workspace.
inline constexpr int kAnyOperands = 2;

}  // namespace cornerturn::production
