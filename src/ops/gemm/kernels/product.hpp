// What a launch of the production multiplication does: some tiles of C, whole or in parts.
#pragma once

#include "device/device.hpp"
#include "ops/gemm/kernels/policy.hpp"

namespace CORNERTURN_KERNELS {

// An operand as kernels see it: A's columns and B's rows run along k.
struct gemm_operand {
    const float* data;
    std::int64_t ld, stride;  // between rows of the matrix, and between matrices of a batch
    int extent;               // rows of C (A) or columns of C (B) that may be read: C's, or some more
};

// C = alpha A B + beta C for `count` matrices, cut into tiles, which are numbered product by product, and in each so
// that neighbouring numbers share rows of A or columns of B. Block i computes tile i, for i < whole. What is left is
// computed in `parts` parts along k each, by a block each: parts of C's tiles go to `partial`, a tile's floats after
// those of the part before, for gather() to sum.
struct gemm_launch {
    gemm_operand a, b;
    float* c;
    std::int64_t ldc, c_stride, k;
    int m, n, count;
    float alpha, beta;
    int tiles_down, tiles_across;
    int whole, parts;
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

// A kernel that computes tiles, and the steps along k that it sums at a time, in whole tiles and in parts.
struct gemm_tiles_kernel {
    void (*run)(gemm_launch) = nullptr;
    int chunk = 0, part_chunk = 0;
    int stages_bytes = 0, sums_bytes = 0;

    // Dynamic shared memory, where the longest sums are of so many steps.
    int shared_bytes(std::int64_t whole, std::int64_t part) const {
        return stages_bytes + (whole > chunk || part > part_chunk ? sums_bytes : 0);
    }
};

// For operands that lie so; without a kernel where there is none.
gemm_tiles_kernel large_tiles(const production::gemm_paths& paths);
gemm_tiles_kernel small_tiles(const production::gemm_paths& paths);

// C's tiles out of their parts.
void gather(const gemm_launch& w, const production::gemm_tile& tile);

// `count` matrices of rows x cols one behind the other, without the gaps: rows `to_ld` apart, a multiple of 4.
void pack(const float* from, std::int64_t ld, std::int64_t stride, float* to, std::int64_t to_ld, std::int64_t rows,
          std::int64_t cols, std::int64_t count);

// And zeros behind the columns, up to the leading dimension.
void clear_ends(float* to, std::int64_t to_ld, std::int64_t rows, std::int64_t cols);

// Computes the product, which is as production::as_computed() gives it, and has the plan's workspace; false where there
// is no such kernel.
bool multiply(const gemm_work& work, const production::gemm_plan& plan, const production::gemm_machine& machine);

}  // namespace CORNERTURN_KERNELS
