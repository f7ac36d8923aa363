#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kRegisters{
    .id = "gemm/registers",
    .idea = "Larger register tiles: a thread keeps 16 x 8 of C and loads its operands one step ahead.",
    .change =
        "From async: 128 multiply-adds need six loads of 16 bytes; before, 64 needed four. No load is waited for, and "
        "three tiles are in flight. At 4096 on an H200, 0.85 -> 0.96 of cublasSgemm's speed.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C move in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4. Elsewhere they move in "
        "scalars.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit =
        "A must first be transposed in memory. Loads of B take 4 wavefronts, but the next rung gains nothing from 2.",
    .source = "docs/experiments/products.md.",
};

constexpr int kRegistersTile = 128, kRegistersDepth = 8, kRegistersStages = 4;
constexpr int kRegistersDown = 16, kRegistersAcross = 8;  // a thread's part of C
constexpr int kRegistersY = kRegistersTile / kRegistersDown, kRegistersX = kRegistersTile / kRegistersAcross;
constexpr int kRegistersThreads = kRegistersX * kRegistersY;

// `work.a` is A's transpose, with aligned rows. A thread's rows and columns come in groups of four. Successive groups
// are 4 * kRegistersY rows, or 4 * kRegistersX columns, apart.
template <bool kVectorB>
__global__ void __launch_bounds__(kRegistersThreads, 2) gemm_registers(gemm_work work, bool vector_c) {
    constexpr int kFours = kRegistersTile / 4, kAtOnce = kRegistersThreads / kFours;  // steps of k loaded at once
    __shared__ float4 a[kRegistersStages][kRegistersDepth][kFours], b[kRegistersStages][kRegistersDepth][kFours];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kRegistersX + x;
    const std::int64_t row0 = at.row * kRegistersTile, col0 = at.col * kRegistersTile;
    const int loaded_step = thread / kFours, loaded = thread % kFours;
    const std::int64_t rows = work.m - row0 - loaded * 4, cols = work.n - col0 - loaded * 4;
    const float* from_a = work.a + loaded_step * work.lda + row0 + loaded * 4;
    const float* from_b = work.b + loaded_step * work.ldb + col0 + loaded * 4;
    std::int64_t left = work.k;
    const auto load = [&](int stage) {  // the next tile, if there is one
        CORNERTURN_UNROLL
        for (int step = loaded_step; step < loaded_step + kRegistersDepth && left > 0; step += kAtOnce) {
            const int behind = step - loaded_step;
            const std::int64_t there = step < left ? 1 : 0;
            copy_four_async<true>(as_shared(&a[stage][step][loaded].x), from_a + behind * work.lda, there * rows);
            copy_four_async<kVectorB>(as_shared(&b[stage][step][loaded].x), from_b + behind * work.ldb, there * cols);
        }
        from_a += kRegistersDepth * work.lda;
        from_b += kRegistersDepth * work.ldb;
        left -= kRegistersDepth;
        end_of_copies();
    };
    float sums[kRegistersDown][kRegistersAcross] = {}, of_a[2][kRegistersDown], of_b[2][kRegistersAcross];
    const auto fetch = [&](int stage, int step) {
        CORNERTURN_UNROLL
        for (int j = 0; j < kRegistersAcross; j += 4)
            load_four(&of_b[step % 2][j], &b[stage][step][j / 4 * kRegistersX + x].x);
        CORNERTURN_UNROLL
        for (int i = 0; i < kRegistersDown; i += 4)
            load_four(&of_a[step % 2][i], &a[stage][step][i / 4 * kRegistersY + y].x);
    };
    CORNERTURN_UNROLL
    for (int stage = 0; stage < kRegistersStages - 1; ++stage) load(stage);
    wait_for_copies<kRegistersStages - 2>();
    __syncthreads();
    if (work.k > 0) fetch(0, 0);
    int stage = 0;
    CORNERTURN_UNROLL_BY(1)
    for (std::int64_t ahead = work.k; ahead > 0; ahead -= kRegistersDepth) {
        CORNERTURN_UNROLL
        for (int step = 0; step < kRegistersDepth; ++step) {
            if (step == kRegistersDepth - 1) {
                wait_for_copies<kRegistersStages - 2>();
                __syncthreads();  // the next tile has arrived, and all threads have loaded their last operands of this
                                  // one
                stage = (stage + 1) % kRegistersStages;
            }
            // Nothing uses the last fetch. On a GPU a test costs more. In the emulator the fetch would be an error.
            if (!kEmulated || step < kRegistersDepth - 1 || ahead > kRegistersDepth)
                fetch(stage, (step + 1) % kRegistersDepth);
            if (step == 0) load((stage + kRegistersStages - 1) % kRegistersStages);
            CORNERTURN_UNROLL
            for (int i = 0; i < kRegistersDown; ++i) {
                CORNERTURN_UNROLL
                for (int across = 0; across < kRegistersAcross; ++across) {
                    // Go across and back: each multiply-add shares an operand with the one before.
                    const int j = i % 2 == 0 ? across : kRegistersAcross - 1 - across;
                    sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
                }
            }
        }
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < kRegistersDown; ++i) {
        const std::int64_t at_row = row0 + (i / 4 * kRegistersY + y) * 4 + i % 4;
        CORNERTURN_UNROLL
        for (int j = 0; j < kRegistersAcross && at_row < work.m; j += 4) {
            const std::int64_t first = col0 + (j / 4 * kRegistersX + x) * 4;
            store_four(work.c + at_row * work.ldc + first, &sums[i][j], work.n - first, work.alpha, work.beta,
                       vector_c);
        }
    }
}

void run_registers(const gemm_work& work) {
    const bool vector_c = rows_of_fours(work.c, work.ldc);
    launch_gemm<true>(rows_of_fours(work.b, work.ldb) ? gemm_registers<true> : gemm_registers<false>, transpose_a(work),
                      {kRegistersTile, kRegistersTile}, dim3(kRegistersX, kRegistersY), 0, vector_c);
}

CORNERTURN_RUNG(kRegisters, gemm_operation(), multiplying("", "-", &run_registers, &transposed_a_floats))

}  // namespace CORNERTURN_KERNELS
