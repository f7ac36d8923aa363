#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kWarps{
    .id = "gemm/warps",
    .idea =
        "Warp tiles: a warp computes 64 x 64 of C. Adjacent lanes load the same 16 bytes of A. Lanes two "
        "apart load the same 16 bytes of B.",
    .change =
        "From registers: loads of A and of B from shared memory take 2 wavefronts each; B's took 4. At 4096 on an "
        "H200, 0.96 -> 0.96 of cublasSgemm's speed: wavefronts were not the limit.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C move in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4. Elsewhere they move in "
        "scalars.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit = "A must first be transposed in memory. Edges and the last tiles leave multiprocessors idle.",
    .source = "Pairs of lanes: docs/experiments/products.md.",
};

constexpr int kWarpsTile = 128, kWarpsDepth = 8, kWarpsStages = 4;
constexpr int kWarpsDown = 16, kWarpsAcross = 8;     // a thread's part of C
constexpr int kWarpsThreads = 128, kWarpsSide = 64;  // four warps, two by two
constexpr int kWarpsY = kWarpsSide / kWarpsDown,
              kWarpsX = kWarpsSide / kWarpsAcross;  // lanes of a warp down and across

// `work.a` is A's transpose, with aligned rows. A lane's rows and columns come in groups of four. Successive groups are
// 4 * kWarpsY rows, or 4 * kWarpsX columns, apart.
template <bool kVectorB>
__global__ void __launch_bounds__(kWarpsThreads, 2) gemm_warps(gemm_work work, bool vector_c) {
    constexpr int kFours = kWarpsTile / 4, kAtOnce = kWarpsThreads / kFours;  // steps of k loaded at once
    __shared__ float4 a[kWarpsStages][kWarpsDepth][kFours], b[kWarpsStages][kWarpsDepth][kFours];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    // Bits 1 and 4 of a lane's number go down, the others across. Adjacent lanes then load the same of A, and lanes two
    // apart the same of B.
    const int y = warp % 2 * (kWarpsSide / 4) + ((lane >> 1 & 1) | (lane >> 3 & 2));
    const int x = warp / 2 * (kWarpsSide / 4) + ((lane & 1) | (lane >> 1 & 6));
    const std::int64_t row0 = at.row * kWarpsTile, col0 = at.col * kWarpsTile;
    const int loaded_step = thread / kFours, loaded = thread % kFours;
    const std::int64_t rows = work.m - row0 - loaded * 4, cols = work.n - col0 - loaded * 4;
    const float* from_a = work.a + loaded_step * work.lda + row0 + loaded * 4;
    const float* from_b = work.b + loaded_step * work.ldb + col0 + loaded * 4;
    std::int64_t left = work.k;
    const auto load = [&](int stage) {  // the next tile, if there is one
        CORNERTURN_UNROLL
        for (int step = loaded_step; step < loaded_step + kWarpsDepth && left > 0; step += kAtOnce) {
            const int behind = step - loaded_step;
            const std::int64_t there = step < left ? 1 : 0;
            copy_four_async<true>(as_shared(&a[stage][step][loaded].x), from_a + behind * work.lda, there * rows);
            copy_four_async<kVectorB>(as_shared(&b[stage][step][loaded].x), from_b + behind * work.ldb, there * cols);
        }
        from_a += kWarpsDepth * work.lda;
        from_b += kWarpsDepth * work.ldb;
        left -= kWarpsDepth;
        end_of_copies();
    };
    float sums[kWarpsDown][kWarpsAcross] = {}, of_a[2][kWarpsDown], of_b[2][kWarpsAcross];
    const auto fetch = [&](int stage, int step) {
        CORNERTURN_UNROLL
        for (int j = 0; j < kWarpsAcross; j += 4) load_four(&of_b[step % 2][j], &b[stage][step][j / 4 * kWarpsX + x].x);
        CORNERTURN_UNROLL
        for (int i = 0; i < kWarpsDown; i += 4) load_four(&of_a[step % 2][i], &a[stage][step][i / 4 * kWarpsY + y].x);
    };
    CORNERTURN_UNROLL
    for (int stage = 0; stage < kWarpsStages - 1; ++stage) load(stage);
    wait_for_copies<kWarpsStages - 2>();
    __syncthreads();
    if (work.k > 0) fetch(0, 0);
    int stage = 0;
    CORNERTURN_UNROLL_BY(1)
    for (std::int64_t ahead = work.k; ahead > 0; ahead -= kWarpsDepth) {
        CORNERTURN_UNROLL
        for (int step = 0; step < kWarpsDepth; ++step) {
            if (step == kWarpsDepth - 1) {
                wait_for_copies<kWarpsStages - 2>();
                __syncthreads();  // the next tile has arrived, and all threads have loaded their last operands of this
                                  // one
                stage = (stage + 1) % kWarpsStages;
            }
            // Nothing uses the last fetch. On a GPU a test costs more. In the emulator the fetch would be an error.
            if (!kEmulated || step < kWarpsDepth - 1 || ahead > kWarpsDepth) fetch(stage, (step + 1) % kWarpsDepth);
            if (step == 0) load((stage + kWarpsStages - 1) % kWarpsStages);
            CORNERTURN_UNROLL
            for (int i = 0; i < kWarpsDown; ++i) {
                CORNERTURN_UNROLL
                for (int across = 0; across < kWarpsAcross; ++across) {
                    // Go across and back: each multiply-add shares an operand with the one before.
                    const int j = i % 2 == 0 ? across : kWarpsAcross - 1 - across;
                    sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
                }
            }
        }
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < kWarpsDown; ++i) {
        const std::int64_t at_row = row0 + (i / 4 * kWarpsY + y) * 4 + i % 4;
        CORNERTURN_UNROLL
        for (int j = 0; j < kWarpsAcross && at_row < work.m; j += 4) {
            const std::int64_t first = col0 + (j / 4 * kWarpsX + x) * 4;
            store_four(work.c + at_row * work.ldc + first, &sums[i][j], work.n - first, work.alpha, work.beta,
                       vector_c);
        }
    }
}

void run_warps(const gemm_work& work) {
    const bool vector_c = rows_of_fours(work.c, work.ldc);
    launch_gemm<true>(rows_of_fours(work.b, work.ldb) ? gemm_warps<true> : gemm_warps<false>, transpose_a(work),
                      {kWarpsTile, kWarpsTile}, dim3(kWarpsThreads), 0, vector_c);
}

CORNERTURN_RUNG(kWarps, gemm_operation(), multiplying("", "-", &run_warps, &transposed_a_floats))

}  // namespace CORNERTURN_KERNELS
