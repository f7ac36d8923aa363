#include "device/gemm.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kRegisters{
    .id = "gemm/registers",
    .idea = "Larger register tiles: a thread has 16 x 8 of C, and loads its operands from shared memory a step ahead.",
    .change =
        "From async: six loads of 16 bytes for 128 multiply-adds, in place of four for 64, and none is waited for; "
        "three tiles are on their way.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C are moved in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4, in scalars elsewhere.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit = "Loads from shared memory take more wavefronts than need be: a warp has 16 rows and 128 columns of C.",
    .source = "docs/experiments.md.",
};

constexpr int kRegistersTile = 128, kRegistersDepth = 8, kRegistersStages = 4;
constexpr int kRegistersDown = 16, kRegistersAcross = 8;  // of C, a thread's
constexpr int kRegistersY = kRegistersTile / kRegistersDown, kRegistersX = kRegistersTile / kRegistersAcross;

// `work.a` is A's transpose, whose rows are aligned. Threads have rows and columns in fours, each as many apart as all
// threads of a column or row have.
template <bool kVectorB>
__global__ void __launch_bounds__(kRegistersX* kRegistersY) gemm_registers(gemm_work work, bool vector_c) {
    constexpr int kThreads = kRegistersX * kRegistersY, kFours = kRegistersTile / 4;
    constexpr int kAtOnce = kThreads / kFours;  // steps of k that all threads load at once
    __shared__ float4 a[kRegistersStages][kRegistersDepth][kFours], b[kRegistersStages][kRegistersDepth][kFours];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kRegistersX + x;
    const std::int64_t row0 = at.row * kRegistersTile, col0 = at.col * kRegistersTile;
    const int loaded_step = thread / kFours, loaded = thread % kFours;
    const std::int64_t row = row0 + loaded * 4, col = col0 + loaded * 4;
    const auto load = [&](std::int64_t tile) {  // an empty group of copies behind the last tile
        const int stage = static_cast<int>(tile % kRegistersStages);
        CORNERTURN_UNROLL
        for (int i = loaded_step; i < kRegistersDepth; i += kAtOnce) {
            const std::int64_t in_k = tile * kRegistersDepth + i;
            const bool there = in_k < work.k;
            if (tile * kRegistersDepth >= work.k) break;
            copy_four_async<true>(place_of(&a[stage][i][loaded].x), work.a + in_k * work.lda + row,
                                  there ? work.m - row : 0);
            copy_four_async<kVectorB>(place_of(&b[stage][i][loaded].x), work.b + in_k * work.ldb + col,
                                      there ? work.n - col : 0);
        }
        end_of_copies();
    };
    float sums[kRegistersDown][kRegistersAcross] = {}, of_a[2][kRegistersDown], of_b[2][kRegistersAcross];
    const auto fetch = [&](int stage, int step) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kRegistersDown; i += 4)
            load_four(&of_a[step % 2][i], &a[stage][step][i / 4 * kRegistersY + y].x);
        CORNERTURN_UNROLL
        for (int j = 0; j < kRegistersAcross; j += 4)
            load_four(&of_b[step % 2][j], &b[stage][step][j / 4 * kRegistersX + x].x);
    };
    const std::int64_t tiles = (work.k + kRegistersDepth - 1) / kRegistersDepth;
    for (int tile = 0; tile < kRegistersStages - 1; ++tile) load(tile);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const int stage = static_cast<int>(tile % kRegistersStages);
        wait_for_copies<kRegistersStages - 2>();
        __syncthreads();  // the tile is there, and everyone has used the one before, which is overwritten now
        load(tile + kRegistersStages - 1);
        fetch(stage, 0);
        CORNERTURN_UNROLL
        for (int step = 0; step < kRegistersDepth; ++step) {
            if (step + 1 < kRegistersDepth) fetch(stage, step + 1);
            CORNERTURN_UNROLL
            for (int i = 0; i < kRegistersDown; ++i) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kRegistersAcross; ++j) sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
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

CORNERTURN_RUNG(kRegisters, operation::multiply, multiplying("", "-", &run_registers, &turned_a_floats))

}  // namespace CORNERTURN_KERNELS
