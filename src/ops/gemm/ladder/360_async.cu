#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kAsync{
    .id = "gemm/async",
    .idea =
        "Double buffering: asynchronous copies bring the next tile of A and B into shared memory while this one is "
        "multiplied. They bypass the registers.",
    .change =
        "From vectorized: the multiply-adds no longer wait for memory, and no register holds data in flight. At 4096 "
        "on an H200, 0.69 -> 0.85 of cublasSgemm's speed.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C move in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4. Elsewhere they move in "
        "scalars.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit = "Shared memory: 64 multiply-adds need four 16-byte loads, and each step of k waits for the loads it uses.",
    .source = "Asynchronous copies: CUDA C++ Programming Guide, cp.async.",
};

constexpr int kAsyncTile = 128, kAsyncDepth = 8, kAsyncThreads = 16, kAsyncEach = 4;

// `work.a` is A's transpose, with aligned rows.
template <bool kVectorB>
__global__ void gemm_async(gemm_work work, bool vector_c) {
    constexpr int kHalf = kAsyncTile / 2;
    __shared__ float4 a[2][kAsyncDepth][kAsyncTile / 4], b[2][kAsyncDepth][kAsyncTile / 4];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kAsyncThreads + x;
    const std::int64_t row0 = at.row * kAsyncTile, col0 = at.col * kAsyncTile;
    const int loaded_step = thread / (kAsyncTile / 4), loaded = thread % (kAsyncTile / 4);
    const std::int64_t row = row0 + loaded * 4, col = col0 + loaded * 4;
    const shared_address to_a = as_shared(&a[0][loaded_step][loaded].x), to_b = as_shared(&b[0][loaded_step][loaded].x);
    const auto load = [&](std::int64_t step, int stage) {
        const std::int64_t in_k = step + loaded_step;
        const bool there = in_k < work.k;
        const int behind = stage * kAsyncDepth * kAsyncTile;
        copy_four_async<true>(to_a + behind, work.a + in_k * work.lda + row, there ? work.m - row : 0);
        copy_four_async<kVectorB>(to_b + behind, work.b + in_k * work.ldb + col, there ? work.n - col : 0);
    };
    float sums[2][2][kAsyncEach][kAsyncEach] = {};
    load(0, 0);
    end_of_copies();
    int stage = 0;
    for (std::int64_t step = 0; step < work.k; step += kAsyncDepth, stage ^= 1) {
        load(step + kAsyncDepth, stage ^ 1);  // beyond the last tile: zeros
        end_of_copies();
        wait_for_copies<1>();  // this tile has arrived; the next one may be in flight
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kAsyncDepth; ++i) {
            float of_a[2][kAsyncEach], of_b[2][kAsyncEach];
            CORNERTURN_UNROLL
            for (int half = 0; half < 2; ++half) {
                load_four(of_a[half], &a[stage][i][half * kHalf / 4 + y].x);
                load_four(of_b[half], &b[stage][i][half * kHalf / 4 + x].x);
            }
            CORNERTURN_UNROLL
            for (int quadrant = 0; quadrant < 4; ++quadrant) {
                const int down = quadrant / 2, across = quadrant % 2;
                CORNERTURN_UNROLL
                for (int r = 0; r < kAsyncEach; ++r) {
                    CORNERTURN_UNROLL
                    for (int c = 0; c < kAsyncEach; ++c) sums[down][across][r][c] += of_a[down][r] * of_b[across][c];
                }
            }
        }
        __syncthreads();  // the next iteration's copies overwrite this tile
    }
    CORNERTURN_UNROLL
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        const int down = quadrant / 2, across = quadrant % 2;
        const std::int64_t first = col0 + across * kHalf + x * kAsyncEach;
        CORNERTURN_UNROLL
        for (int r = 0; r < kAsyncEach; ++r) {
            const std::int64_t at_row = row0 + down * kHalf + y * kAsyncEach + r;
            if (at_row < work.m)
                store_four(work.c + at_row * work.ldc + first, sums[down][across][r], work.n - first, work.alpha,
                           work.beta, vector_c);
        }
    }
}

void run_async(const gemm_work& work) {
    const bool vector_c = rows_of_fours(work.c, work.ldc);
    launch_gemm<true>(rows_of_fours(work.b, work.ldb) ? gemm_async<true> : gemm_async<false>, transpose_a(work),
                      {kAsyncTile, kAsyncTile}, dim3(kAsyncThreads, kAsyncThreads), 0, vector_c);
}

CORNERTURN_RUNG(kAsync, gemm_operation(), multiplying("", "-", &run_async, &transposed_a_floats))

}  // namespace CORNERTURN_KERNELS
