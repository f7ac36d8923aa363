#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kBlocked{
    .id = "gemm/blocked",
    .idea = "A 128 x 128 tile of C. Each thread keeps a 4 x 4 block of it in registers.",
    .change = "From strided: a thread's elements are neighbours, not 32 apart.",
    .contract = "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read.",
    .bytes = "4 * (m * n * k / 64 + m * n)",
    .limit = "Shared memory: four neighbours are four scalar loads, unless the compiler merges them into one.",
    .source = "Note 002 matrixMul_2_2, which is @plain.",
};

constexpr int kBlockedTile = 128, kBlockedDepth = 8, kBlockedThreads = 32, kBlockedEach = 4;

// kPad: padding after each row of the tiles in shared memory, in floats.
template <int kPad>
__global__ void gemm_blocked(gemm_work work) {
    __shared__ float a[kBlockedDepth][kBlockedTile + kPad], b[kBlockedDepth][kBlockedTile + kPad];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kBlockedThreads + x;
    const std::int64_t row0 = at.row * kBlockedTile, col0 = at.col * kBlockedTile;
    // Neighbouring threads load neighbouring floats of each tile.
    const int a_row = thread / kBlockedDepth, a_step = thread % kBlockedDepth;
    const int b_step = thread / kBlockedTile, b_col = thread % kBlockedTile;
    float sums[kBlockedEach][kBlockedEach] = {};
    for (std::int64_t step = 0; step < work.k; step += kBlockedDepth) {
        const bool a_there = row0 + a_row < work.m && step + a_step < work.k;
        const bool b_there = step + b_step < work.k && col0 + b_col < work.n;
        a[a_step][a_row] = a_there ? work.a[(row0 + a_row) * work.lda + step + a_step] : 0;
        b[b_step][b_col] = b_there ? work.b[(step + b_step) * work.ldb + col0 + b_col] : 0;
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kBlockedDepth; ++i) {
            float of_a[kBlockedEach], of_b[kBlockedEach];
            CORNERTURN_UNROLL
            for (int j = 0; j < kBlockedEach; ++j) {
                of_a[j] = a[i][y * kBlockedEach + j];
                of_b[j] = b[i][x * kBlockedEach + j];
            }
            CORNERTURN_UNROLL
            for (int r = 0; r < kBlockedEach; ++r) {
                CORNERTURN_UNROLL
                for (int c = 0; c < kBlockedEach; ++c) sums[r][c] += of_a[r] * of_b[c];
            }
        }
        __syncthreads();
    }
    CORNERTURN_UNROLL
    for (int r = 0; r < kBlockedEach; ++r) {
        CORNERTURN_UNROLL
        for (int c = 0; c < kBlockedEach; ++c)
            store_product(work, row0 + y * kBlockedEach + r, col0 + x * kBlockedEach + c, sums[r][c]);
    }
}

template <int kPad>
void run_blocked(const gemm_work& work) {
    launch_gemm(gemm_blocked<kPad>, work, {kBlockedTile, kBlockedTile}, dim3(kBlockedThreads, kBlockedThreads));
}

CORNERTURN_RUNG(kBlocked, gemm_operation(),
                multiplying("plain", "002 matrixMul_2_2", &run_blocked<0>, nullptr, 1694.55),
                multiplying("padded", "-", &run_blocked<1>))

}  // namespace CORNERTURN_KERNELS
