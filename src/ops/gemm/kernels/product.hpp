// What a launch of the production multiplication does: some tiles of C, whole or in parts.
#pragma once

#include "device/device.hpp"
#include "ops/gemm/kernels/policy.hpp"

namespace CORNERTURN_KERNELS {

// An operand as kernels see it: A's columns and B's rows run along k.
struct gemm_operand {
    const float* data;
    std::int64_t ld, stride;  // between rows of the matrix, and between matrices of a batch
    int extent;               // rows of C (A) or columns of C (B) that may be read: packed ones are rounded up to 4
};

// C = alpha A B + beta C for `count` matrices, cut into tiles, which are numbered product by product, and in each so
// that neighbouring numbers share rows of A or columns of B. Block i computes tile i, for i < whole. What is left is
// computed in `parts` parts along k each, by a block each: parts of C's tiles go to `partial`, a tile's floats after
// those of the part before, row by row, for gather() to sum.
struct gemm_launch {
    gemm_operand a, b;
    float* c;
    std::int64_t c_row, c_col, c_stride, k;  // from an element of C to that in the next row, column, product
    int m, n, count;
    float alpha, beta;
    int tiles_down, tiles_across;
    int whole, parts;
    int steps_each, steps_over;  // of a part; so many have one more
    float* partial;

    int tiles() const { return tiles_down * tiles_across * count; }
};

// Where a tile lies: in bands of kBand rows of tiles, and in a band down its columns.
struct gemm_tile_at {
    static constexpr int kBand = 8;
    int product, row, col;

    __device__ __forceinline__ static gemm_tile_at of(int tile, const gemm_launch& w) {
        const int each = w.tiles_down * w.tiles_across, product = tile / each, in = tile - product * each;
        const int of_band = kBand * w.tiles_across, band = in / of_band, rest = in - band * of_band;
        const int below = w.tiles_down - band * kBand, high = below < kBand ? below : kBand;
        return {product, band * kBand + rest % high, rest / high};
    }
};

// What a block computes: all of a tile, or a part of its steps along k.
struct gemm_share {
    gemm_tile_at at;
    int part;  // its number among all parts; -1: the tile is whole
    std::int64_t first;
    int count;  // of steps

    __device__ __forceinline__ static gemm_share of(int block, int steps, const gemm_launch& w) {
        if (block < w.whole) return {gemm_tile_at::of(block, w), -1, 0, steps};
        const int part = block - w.whole, of_tile = part % w.parts;
        const int longer = of_tile < w.steps_over ? of_tile : w.steps_over;  // parts before it, by a step
        return {gemm_tile_at::of(w.whole + part / w.parts, w), part, of_tile * w.steps_each + longer,
                w.steps_each + (of_tile < w.steps_over ? 1 : 0)};
    }
};

// Where a block's tile goes: to C, or to `partial`, whole, so that whoever gathers reads nothing that was not written.
struct gemm_target {
    float* to;
    std::int64_t row, col;    // from an element to that in the next row, column
    std::int64_t rows, cols;  // that are there
    float alpha, beta;

    __device__ __forceinline__ static gemm_target of(const gemm_share& share, int rows, int cols,
                                                     const gemm_launch& w) {
        if (share.part >= 0) return {w.partial + std::int64_t{share.part} * rows * cols, cols, 1, rows, cols, 1, 0};
        const std::int64_t row = std::int64_t{share.at.row} * rows, col = std::int64_t{share.at.col} * cols;
        float* const to = w.c + share.at.product * w.c_stride + row * w.c_row + col * w.c_col;
        return {to, w.c_row, w.c_col, w.m - row, w.n - col, w.alpha, w.beta};
    }
    __device__ __forceinline__ gemm_target transposed() const { return {to, col, row, cols, rows, alpha, beta}; }
    // C's element becomes alpha * sum + beta * what it was, which is not read where beta is 0.
    __device__ __forceinline__ void store(std::int64_t at_row, std::int64_t at_col, float sum) const {
        if (at_row >= rows || at_col >= cols) return;
        float* const one = to + at_row * row + at_col * col;
        *one = beta == 0 ? alpha * sum : alpha * sum + beta * *one;
    }
};

// A kernel that computes tiles, and the bytes of dynamic shared memory that it takes: for no more steps than it sums at
// a time, and for more.
struct gemm_tiles_kernel {
    void (*run)(gemm_launch) = nullptr;
    int shared_bytes = 0, with_chunks_bytes = 0;
};

// That of a row of production::kGemmKernels, for operands that lie so; without a kernel where there is none. `fours`:
// whether C's rows are stored 16 bytes at a time. Each row is instantiated in one file. The first is of rows of tiles,
// the second of dots and columns, the third of outer products.
template <int kRow>
gemm_tiles_kernel tiles_kernel_of(const production::gemm_paths& paths, bool fours);
template <int kRow>
gemm_tiles_kernel narrow_kernel_of(const production::gemm_paths& paths);
template <int kRow>
gemm_tiles_kernel outer_kernel_of(const production::gemm_paths& paths);

// C's tiles out of their parts.
void gather(const gemm_launch& w, int rows, int cols);

// `count` matrices of rows x cols one behind the other, without the gaps: rows `to_ld` apart, a multiple of 4.
void pack(const float* from, std::int64_t ld, std::int64_t stride, float* to, std::int64_t to_ld, std::int64_t rows,
          std::int64_t cols, std::int64_t count);

// And zeros behind the columns, up to the leading dimension.
void clear_ends(float* to, std::int64_t to_ld, std::int64_t rows, std::int64_t cols);

// Computes the product that is planned, in its workspace; false where there is no such kernel.
bool multiply(const production::gemm_plan& plan, float* workspace, const gpu& on);

}  // namespace CORNERTURN_KERNELS
