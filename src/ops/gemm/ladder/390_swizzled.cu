#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kSwizzled{
    .id = "gemm/swizzled",
    .idea =
        "Swizzled shared memory: A is transposed on its way there, float by float. The swizzle puts the floats in "
        "different banks.",
    .change =
        "From warps: A is not transposed in memory first. Each row of its tile permutes its groups of four by an "
        "exclusive-or, without padding. At 4096 on an H200, 0.96 -> 0.89 of cublasSgemm's speed, but it needs one "
        "launch and one temporary matrix fewer.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C move in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4. Elsewhere they move in "
        "scalars.",
    .bytes = "4 * (m * n * k / 64 + m * n)",
    .limit = "A takes four times as many copies. Large products are faster with A transposed in memory.",
    .source = "docs/experiments/products.md.",
};

constexpr int kSwizzledTile = 128, kSwizzledDepth = 8, kSwizzledStages = 4;
constexpr int kSwizzledDown = 16, kSwizzledAcross = 8;     // a thread's part of C
constexpr int kSwizzledThreads = 128, kSwizzledSide = 64;  // four warps, two by two
constexpr int kSwizzledY = kSwizzledSide / kSwizzledDown,
              kSwizzledX = kSwizzledSide / kSwizzledAcross;  // lanes of a warp down and across

// Row k of A's tile puts group g of four floats in slot g ^ k. A lane's rows and columns come in groups of four.
// Successive groups are 4 * kSwizzledY rows, or 4 * kSwizzledX columns, apart.
template <bool kVectorB>
__global__ void __launch_bounds__(kSwizzledThreads, 2) gemm_swizzled(gemm_work work, bool vector_c) {
    constexpr int kFours = kSwizzledTile / 4, kAtOnce = kSwizzledThreads / kFours;  // steps of k loaded at once
    __shared__ float4 a[kSwizzledStages][kSwizzledDepth][kFours], b[kSwizzledStages][kSwizzledDepth][kFours];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    // Bits 1 and 4 of a lane's number go down, the others across. Adjacent lanes then load the same of A, and lanes two
    // apart the same of B.
    const int y = warp % 2 * (kSwizzledSide / 4) + ((lane >> 1 & 1) | (lane >> 3 & 2));
    const int x = warp / 2 * (kSwizzledSide / 4) + ((lane & 1) | (lane >> 1 & 6));
    const std::int64_t row0 = at.row * kSwizzledTile, col0 = at.col * kSwizzledTile;
    const int loaded_step = thread / kFours, loaded = thread % kFours;
    const std::int64_t cols = work.n - col0 - loaded * 4;
    // A warp loads eight neighbours along k, one sector, of each of four rows of A. It writes them to 32 banks.
    const int a_step = thread % kSwizzledDepth, a_row = thread / kSwizzledDepth;
    const float* from_a = work.a + (row0 + a_row) * work.lda + a_step;
    const float* from_b = work.b + loaded_step * work.ldb + col0 + loaded * 4;
    std::int64_t left = work.k;
    const auto load = [&](int stage) {  // the next tile, if there is one
        CORNERTURN_UNROLL
        for (int step = loaded_step; step < loaded_step + kSwizzledDepth && left > 0; step += kAtOnce) {
            const int behind = step - loaded_step;
            const std::int64_t there = step < left ? 1 : 0;
            copy_four_async<kVectorB>(as_shared(&b[stage][step][loaded].x), from_b + behind * work.ldb, there * cols);
        }
        constexpr int kRowsAtOnce = kSwizzledThreads / kSwizzledDepth;
        CORNERTURN_UNROLL
        for (int down = 0; down < kSwizzledTile && left > 0; down += kRowsAtOnce) {
            const int in_tile = a_row + down;
            float* const four = &a[stage][a_step][in_tile / 4 ^ a_step].x;
            copy_async_or_zero<1>(as_shared(four + in_tile % 4), from_a + down * work.lda,
                                  a_step < left && row0 + in_tile < work.m);
        }
        from_a += kSwizzledDepth;
        from_b += kSwizzledDepth * work.ldb;
        left -= kSwizzledDepth;
        end_of_copies();
    };
    float sums[kSwizzledDown][kSwizzledAcross] = {}, of_a[2][kSwizzledDown], of_b[2][kSwizzledAcross];
    const auto fetch = [&](int stage, int step) {
        CORNERTURN_UNROLL
        for (int j = 0; j < kSwizzledAcross; j += 4)
            load_four(&of_b[step % 2][j], &b[stage][step][j / 4 * kSwizzledX + x].x);
        CORNERTURN_UNROLL
        for (int i = 0; i < kSwizzledDown; i += 4)
            load_four(&of_a[step % 2][i], &a[stage][step][(i / 4 * kSwizzledY + y) ^ step].x);
    };
    CORNERTURN_UNROLL
    for (int stage = 0; stage < kSwizzledStages - 1; ++stage) load(stage);
    wait_for_copies<kSwizzledStages - 2>();
    __syncthreads();
    if (work.k > 0) fetch(0, 0);
    int stage = 0;
    CORNERTURN_UNROLL_BY(1)
    for (std::int64_t ahead = work.k; ahead > 0; ahead -= kSwizzledDepth) {
        CORNERTURN_UNROLL
        for (int step = 0; step < kSwizzledDepth; ++step) {
            if (step == kSwizzledDepth - 1) {
                wait_for_copies<kSwizzledStages - 2>();
                __syncthreads();  // the next tile has arrived, and all threads have loaded their last operands of this
                                  // one
                stage = (stage + 1) % kSwizzledStages;
            }
            // Nothing uses the last fetch. On a GPU a test costs more. In the emulator the fetch would be an error.
            if (!kEmulated || step < kSwizzledDepth - 1 || ahead > kSwizzledDepth)
                fetch(stage, (step + 1) % kSwizzledDepth);
            if (step == 0) load((stage + kSwizzledStages - 1) % kSwizzledStages);
            CORNERTURN_UNROLL
            for (int i = 0; i < kSwizzledDown; ++i) {
                CORNERTURN_UNROLL
                for (int across = 0; across < kSwizzledAcross; ++across) {
                    // Go across and back: each multiply-add shares an operand with the one before.
                    const int j = i % 2 == 0 ? across : kSwizzledAcross - 1 - across;
                    sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
                }
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

CORNERTURN_RUNG(kSwizzled, gemm_operation(), multiplying("", "-", &run_swizzled))

}  // namespace CORNERTURN_KERNELS
