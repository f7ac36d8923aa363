#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kTiled{
    .id = "gemm/tiled",
    .idea = "A block computes a 32 x 32 tile of C, 32 steps of k at a time; each thread computes one element.",
    .change = "The first rung of the multiplication.",
    .contract = "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read.",
    .bytes = "4 * (m * n * k / 16 + m * n)",
    .limit = "Shared memory: two loads for each multiply-add.",
    .source = "Note 002 matrixMul_1.",
};

constexpr int kTiledSide = 32;

__global__ void gemm_tiled(gemm_work work) {
    // A's tile is stored transposed. A warp writes one column of it: the padding puts its rows in different banks.
    __shared__ float a[kTiledSide][kTiledSide + 1], b[kTiledSide][kTiledSide + 1];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t row = at.row * kTiledSide + y, col = at.col * kTiledSide + x;
    float sum = 0;
    for (std::int64_t step = 0; step < work.k; step += kTiledSide) {
        a[x][y] = row < work.m && step + x < work.k ? work.a[row * work.lda + step + x] : 0;
        b[y][x] = step + y < work.k && col < work.n ? work.b[(step + y) * work.ldb + col] : 0;
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kTiledSide; ++i) sum += a[i][y] * b[i][x];
        __syncthreads();
    }
    store_product(work, row, col, sum);
}

void run_tiled(const gemm_work& work) {
    launch_gemm(gemm_tiled, work, {kTiledSide, kTiledSide}, dim3(kTiledSide, kTiledSide));
}

CORNERTURN_RUNG(kTiled, gemm_operation(), multiplying("", "002 matrixMul_1", &run_tiled, nullptr, 304.14))

}  // namespace CORNERTURN_KERNELS
