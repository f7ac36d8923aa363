// The arguments of a launch of the library's multiplication: some tiles of C, whole or in parts.
#pragma once

#include "device/device.hpp"
#include "ops/gemm/kernels/policy.hpp"

namespace CORNERTURN_KERNELS {

// An operand as kernels see it. A's columns and B's rows run along k.
struct gemm_operand {
    const float* data;
    std::int64_t ld, stride;  // between rows of the matrix, and between matrices of a batch
    int extent;               // rows of C (A) or columns of C (B) that may be read: packed ones are rounded up to 4
};

// C = alpha A B + beta C for `count` matrices, cut into tiles. Tiles are numbered product by product. In each product,
// neighbouring numbers share rows of A or columns of B. Block i computes tile i, for i < whole. The other tiles are
// split into `parts` parts along k, with a block for each part. Parts of C's tiles go to `partial`, for gather() to add
// up: tile by tile, part by part, each row by row.
struct gemm_launch {
    gemm_operand a, b;
    float* c;
    std::int64_t c_row, c_col, c_stride, k;  // from an element of C to the one in the next row, column, product
    int m, n, count;
    float alpha, beta;
    int tiles_down, tiles_across;
    int whole, parts;
    int steps_each, steps_over;  // steps of each part; the first steps_over parts of a tile have one more
    float* partial;

    int tiles() const { return tiles_down * tiles_across * count; }
};

// Where a tile is. Tiles are ordered in bands of kBand rows of tiles, and within a band down its columns.
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

// The work of a block: a whole tile, or a part of its steps along k.
struct gemm_share {
    gemm_tile_at at;
    int part;  // its number among all parts; -1: the tile is whole
    std::int64_t first;
    int count;  // of steps

    __device__ __forceinline__ static gemm_share of(int block, int steps, const gemm_launch& w) {
        if (block < w.whole) return {gemm_tile_at::of(block, w), -1, 0, steps};
        const int part = block - w.whole, of_tile = part % w.parts;
        const int longer = of_tile < w.steps_over ? of_tile : w.steps_over;  // earlier parts with one step more
        return {gemm_tile_at::of(w.whole + part / w.parts, w), part, of_tile * w.steps_each + longer,
                w.steps_each + (of_tile < w.steps_over ? 1 : 0)};
    }
};

// Where a block's tile goes: to C, or to `partial`. There it is written whole, so gather() reads only what was written.
struct gemm_target {
    float* to;
    std::int64_t row, col;    // from an element to the one in the next row, column
    std::int64_t rows, cols;  // that exist
    float alpha, beta;

    __device__ __forceinline__ static gemm_target of(const gemm_share& share, int rows, int cols,
                                                     const gemm_launch& w) {
        if (share.part >= 0) return {w.partial + std::int64_t{share.part} * rows * cols, cols, 1, rows, cols, 1, 0};
        const std::int64_t row = std::int64_t{share.at.row} * rows, col = std::int64_t{share.at.col} * cols;
        float* const to = w.c + share.at.product * w.c_stride + row * w.c_row + col * w.c_col;
        return {to, w.c_row, w.c_col, w.m - row, w.n - col, w.alpha, w.beta};
    }
    __device__ __forceinline__ gemm_target transposed() const { return {to, col, row, cols, rows, alpha, beta}; }
    // C's element becomes alpha * sum + beta * its old value. If beta is 0, the old value is not read.
    __device__ __forceinline__ void store(std::int64_t at_row, std::int64_t at_col, float sum) const {
        if (at_row >= rows || at_col >= cols) return;
        float* const one = to + at_row * row + at_col * col;
        *one = beta == 0 ? alpha * sum : alpha * sum + beta * *one;
    }
};

// A kernel that computes tiles, and its bytes of dynamic shared memory: without chunks of sums, and with them.
struct gemm_tiles_kernel {
    void (*run)(gemm_launch) = nullptr;
    int shared_bytes = 0, with_chunks_bytes = 0;
};

// The kernel of a row of products::kGemmKernels for these layouts. Its `run` is null if there is none. `fours`: whether
// C's rows are stored 16 bytes at a time. Each row is instantiated in one file. The first function is for tiles, the
// second for dots and columns, the third for outer products.
template <int kRow>
gemm_tiles_kernel tiles_kernel_of(const products::operand_layouts& layouts, bool fours);
template <int kRow>
gemm_tiles_kernel narrow_kernel_of(const products::operand_layouts& layouts);
template <int kRow>
gemm_tiles_kernel outer_kernel_of(const products::operand_layouts& layouts);

// Adds up the parts of C's tiles.
void gather(const gemm_launch& w, int rows, int cols);

// Packs `count` matrices of rows x cols without gaps between them. Rows are `to_ld` apart, a multiple of 4.
void pack(const float* from, std::int64_t ld, std::int64_t stride, float* to, std::int64_t to_ld, std::int64_t rows,
          std::int64_t cols, std::int64_t count);

// Writes zeros after the columns, up to the leading dimension.
void clear_ends(float* to, std::int64_t to_ld, std::int64_t rows, std::int64_t cols);

// Computes the planned product, with its workspace. False if there is no such kernel.
bool multiply(const products::prepared_product& product, float* workspace, const gpu& on);

}  // namespace CORNERTURN_KERNELS
