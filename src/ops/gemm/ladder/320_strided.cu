#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kStrided{
    .id = "gemm/strided",
    .idea = "A 128 x 128 tile of C. Each thread keeps 4 x 4 elements, 32 apart, in registers.",
    .change = "From tiled: 16 multiply-adds need 8 loads from shared memory, instead of 32.",
    .contract = "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read.",
    .bytes = "4 * (m * n * k / 64 + m * n)",
    .limit = "Instructions: every load from shared memory is scalar, so there are many.",
    .source = "Note 002 matrixMul_2_1, which is @padded.",
};

constexpr int kStridedTile = 128, kStridedDepth = 8, kStridedThreads = 32, kStridedEach = 4;

// kPad: padding after each row of the tiles in shared memory, in floats.
template <int kPad>
__global__ void gemm_strided(gemm_work work) {
    __shared__ float a[kStridedDepth][kStridedTile + kPad], b[kStridedDepth][kStridedTile + kPad];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kStridedThreads + x;
    const std::int64_t row0 = at.row * kStridedTile, col0 = at.col * kStridedTile;
    // Neighbouring threads load neighbouring floats of each tile.
    const int a_row = thread / kStridedDepth, a_step = thread % kStridedDepth;
    const int b_step = thread / kStridedTile, b_col = thread % kStridedTile;
    float sums[kStridedEach][kStridedEach] = {};
    for (std::int64_t step = 0; step < work.k; step += kStridedDepth) {
        const bool a_there = row0 + a_row < work.m && step + a_step < work.k;
        const bool b_there = step + b_step < work.k && col0 + b_col < work.n;
        a[a_step][a_row] = a_there ? work.a[(row0 + a_row) * work.lda + step + a_step] : 0;
        b[b_step][b_col] = b_there ? work.b[(step + b_step) * work.ldb + col0 + b_col] : 0;
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kStridedDepth; ++i) {
            float of_a[kStridedEach], of_b[kStridedEach];
            CORNERTURN_UNROLL
            for (int j = 0; j < kStridedEach; ++j) {
                of_a[j] = a[i][y + j * kStridedThreads];
                of_b[j] = b[i][x + j * kStridedThreads];
            }
            CORNERTURN_UNROLL
            for (int r = 0; r < kStridedEach; ++r) {
                CORNERTURN_UNROLL
                for (int c = 0; c < kStridedEach; ++c) sums[r][c] += of_a[r] * of_b[c];
            }
        }
        __syncthreads();
    }
    CORNERTURN_UNROLL
    for (int r = 0; r < kStridedEach; ++r) {
        CORNERTURN_UNROLL
        for (int c = 0; c < kStridedEach; ++c)
            store_product(work, row0 + y + r * kStridedThreads, col0 + x + c * kStridedThreads, sums[r][c]);
    }
}

template <int kPad>
void run_strided(const gemm_work& work) {
    launch_gemm(gemm_strided<kPad>, work, {kStridedTile, kStridedTile}, dim3(kStridedThreads, kStridedThreads));
}

CORNERTURN_RUNG(kStrided, gemm_operation(),
                multiplying("padded", "002 matrixMul_2_1", &run_strided<1>, nullptr, 1096.04),
                multiplying("plain", "-", &run_strided<0>))

}  // namespace CORNERTURN_KERNELS
