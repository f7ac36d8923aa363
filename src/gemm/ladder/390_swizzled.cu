#include "device/gemm.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kSwizzled{
    .id = "gemm/swizzled",
    .idea =
        "Swizzled shared memory: A is transposed on its way there, float by float, to places that differ in their "
        "bank.",
    .change =
        "From warps: A is not transposed in memory first. Each row of its tile changes the places of its fours by "
        "an exclusive or, and needs no padding.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C are moved in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4, in scalars elsewhere.",
    .bytes = "4 * (m * n * k / 64 + m * n)",
    .limit =
        "Four times the copies for A: one of warps' steps in ten goes to them. Large products are quicker with A "
        "transposed in memory.",
    .source = "docs/experiments.md.",
};

constexpr int kSwizzledTile = 128, kSwizzledDepth = 8, kSwizzledStages = 4;
constexpr int kSwizzledDown = 16, kSwizzledAcross = 8;     // of C, a thread's
constexpr int kSwizzledThreads = 128, kSwizzledSide = 64;  // four warps, two by two
constexpr int kSwizzledY = kSwizzledSide / kSwizzledDown,
              kSwizzledX = kSwizzledSide / kSwizzledAcross;  // lanes of a warp

// Row k of A's tile has its fours at places exclusive-ored with k. Lanes have rows and columns in fours, each as many
// apart as all lanes of a column or row have.
template <bool kVectorB>
__global__ void __launch_bounds__(kSwizzledThreads) gemm_swizzled(gemm_work work, bool vector_c) {
    constexpr int kFours = kSwizzledTile / 4;
    constexpr int kAtOnce = kSwizzledThreads / kFours;  // steps of k that all threads load at once
    __shared__ float4 a[kSwizzledStages][kSwizzledDepth][kFours], b[kSwizzledStages][kSwizzledDepth][kFours];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    // Bits 1 and 4 of a lane count down, the others across: the lane beside it loads the same of A, and the one behind
    // that the same of B.
    const int y = warp % 2 * (kSwizzledSide / 4) + ((lane >> 1 & 1) | (lane >> 3 & 2));
    const int x = warp / 2 * (kSwizzledSide / 4) + ((lane & 1) | (lane >> 1 & 6));
    const std::int64_t row0 = at.row * kSwizzledTile, col0 = at.col * kSwizzledTile;
    const int loaded_step = thread / kFours, loaded = thread % kFours;
    const std::int64_t col = col0 + loaded * 4;
    const auto load = [&](std::int64_t tile) {  // an empty group of copies behind the last tile
        const int stage = static_cast<int>(tile % kSwizzledStages);
        // Eight neighbours along k, a sector, of four rows a warp: to 32 banks.
        const int a_step = thread % kSwizzledDepth, a_row = thread / kSwizzledDepth;
        const std::int64_t a_in_k = tile * kSwizzledDepth + a_step;
        CORNERTURN_UNROLL
        for (int i = a_row; i < kSwizzledTile && tile * kSwizzledDepth < work.k;
             i += kSwizzledThreads / kSwizzledDepth) {
            copy_async_or_zero<1>(place_of(&a[stage][a_step][i / 4 ^ a_step].x + i % 4),
                                  work.a + (row0 + i) * work.lda + a_in_k, a_in_k < work.k && row0 + i < work.m);
        }
        CORNERTURN_UNROLL
        for (int i = loaded_step; i < kSwizzledDepth; i += kAtOnce) {
            const std::int64_t in_k = tile * kSwizzledDepth + i;
            const bool there = in_k < work.k;
            if (tile * kSwizzledDepth >= work.k) break;
            copy_four_async<kVectorB>(place_of(&b[stage][i][loaded].x), work.b + in_k * work.ldb + col,
                                      there ? work.n - col : 0);
        }
        end_of_copies();
    };
    float sums[kSwizzledDown][kSwizzledAcross] = {}, of_a[2][kSwizzledDown], of_b[2][kSwizzledAcross];
    const auto fetch = [&](int stage, int step) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kSwizzledDown; i += 4)
            load_four(&of_a[step % 2][i], &a[stage][step][(i / 4 * kSwizzledY + y) ^ step].x);
        CORNERTURN_UNROLL
        for (int j = 0; j < kSwizzledAcross; j += 4)
            load_four(&of_b[step % 2][j], &b[stage][step][j / 4 * kSwizzledX + x].x);
    };
    const std::int64_t tiles = (work.k + kSwizzledDepth - 1) / kSwizzledDepth;
    for (int tile = 0; tile < kSwizzledStages - 1; ++tile) load(tile);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const int stage = static_cast<int>(tile % kSwizzledStages);
        wait_for_copies<kSwizzledStages - 2>();
        __syncthreads();  // the tile is there, and everyone has used the one before, which is overwritten now
        load(tile + kSwizzledStages - 1);
        fetch(stage, 0);
        CORNERTURN_UNROLL
        for (int step = 0; step < kSwizzledDepth; ++step) {
            if (step + 1 < kSwizzledDepth) fetch(stage, step + 1);
            CORNERTURN_UNROLL
            for (int i = 0; i < kSwizzledDown; ++i) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kSwizzledAcross; ++j) sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
            }
        }
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < kSwizzledDown; ++i) {
        const std::int64_t at_row = row0 + (i / 4 * kSwizzledY + y) * 4 + i % 4;
        CORNERTURN_UNROLL
        for (int j = 0; j < kSwizzledAcross && at_row < work.m; j += 4) {
            const std::int64_t first = col0 + (j / 4 * kSwizzledX + x) * 4;
            store_four(work.c + at_row * work.ldc + first, &sums[i][j], work.n - first, work.alpha, work.beta,
                       vector_c);
        }
    }
}

void run_swizzled(const gemm_work& work) {
    const bool vector_c = rows_of_fours(work.c, work.ldc);
    launch_gemm<false>(rows_of_fours(work.b, work.ldb) ? gemm_swizzled<true> : gemm_swizzled<false>, work,
                       {kSwizzledTile, kSwizzledTile}, dim3(kSwizzledThreads), 0, vector_c);
}

CORNERTURN_RUNG(kSwizzled, operation::multiply, multiplying("", "-", &run_swizzled))

}  // namespace CORNERTURN_KERNELS
