#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kVectorized{
    .id = "gemm/vectorized",
    .idea = "Four neighbours move as one 16-byte vector: from memory, through shared memory and back to memory.",
    .change = "From quadrants: a quarter of the loads and stores.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B and C move in vectors "
        "where they are aligned to 16 bytes and their leading dimension is a multiple of 4. Elsewhere they move in "
        "scalars.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit = "The multiply-adds wait for each tile, and nothing is loaded while they run.",
    .source = "Note 002 matrixMul_4.",
};

constexpr int kVectorsTile = 128, kVectorsDepth = 8, kVectorsThreads = 16, kVectorsEach = 4;

// The vector at `from`. Only its first `left` floats exist in the row; the others become 0.
template <bool kWhole>
__device__ __forceinline__ float4 vector_at(const float* from, std::int64_t left) {
    if (kWhole && left >= 4) return *reinterpret_cast<const float4*>(from);
    return make_float4(left > 0 ? from[0] : 0, left > 1 ? from[1] : 0, left > 2 ? from[2] : 0, left > 3 ? from[3] : 0);
}

// `work.a` is A's transpose, with aligned rows. kVectorB, kVectorC: the rows of B, of C are aligned too.
template <bool kVectorB, bool kVectorC>
__global__ void gemm_vectorized(gemm_work work) {
    constexpr int kVectors = kVectorsTile / kVectorsEach, kHalf = kVectors / 2;
    __shared__ float4 a[kVectorsDepth][kVectors], b[kVectorsDepth][kVectors];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kVectorsThreads + x;
    const std::int64_t row0 = at.row * kVectorsTile, col0 = at.col * kVectorsTile;
    const int loaded_step = thread / kVectors, loaded = thread % kVectors;
    const std::int64_t row = row0 + loaded * kVectorsEach, col = col0 + loaded * kVectorsEach;
    float sums[2][2][kVectorsEach][kVectorsEach] = {};
    for (std::int64_t step = 0; step < work.k; step += kVectorsDepth) {
        const std::int64_t in_k = step + loaded_step;
        const bool there = in_k < work.k;
        a[loaded_step][loaded] = vector_at<true>(work.a + in_k * work.lda + row, there ? work.m - row : 0);
        b[loaded_step][loaded] = vector_at<kVectorB>(work.b + in_k * work.ldb + col, there ? work.n - col : 0);
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kVectorsDepth; ++i) {
            CORNERTURN_UNROLL
            for (int down = 0; down < 2; ++down) {
                const float4 of_a = a[i][down * kHalf + y];
                const float rows[kVectorsEach] = {of_a.x, of_a.y, of_a.z, of_a.w};
                CORNERTURN_UNROLL
                for (int across = 0; across < 2; ++across) {
                    const float4 of_b = b[i][across * kHalf + x];
                    CORNERTURN_UNROLL
                    for (int r = 0; r < kVectorsEach; ++r) {
                        sums[down][across][r][0] += rows[r] * of_b.x;
                        sums[down][across][r][1] += rows[r] * of_b.y;
                        sums[down][across][r][2] += rows[r] * of_b.z;
                        sums[down][across][r][3] += rows[r] * of_b.w;
                    }
                }
            }
        }
        __syncthreads();
    }
    CORNERTURN_UNROLL
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        const int down = quadrant / 2, across = quadrant % 2;
        const std::int64_t first = col0 + (across * kHalf + x) * kVectorsEach;
        CORNERTURN_UNROLL
        for (int r = 0; r < kVectorsEach; ++r) {
            const std::int64_t at_row = row0 + (down * kHalf + y) * kVectorsEach + r;
            if (at_row < work.m)
                store_four(work.c + at_row * work.ldc + first, sums[down][across][r], work.n - first, work.alpha,
                           work.beta, kVectorC);
        }
    }
}

void run_vectorized(const gemm_work& work) {
    const bool b = rows_of_fours(work.b, work.ldb), c = rows_of_fours(work.c, work.ldc);
    auto* const kernel = b ? (c ? gemm_vectorized<true, true> : gemm_vectorized<true, false>)
                           : (c ? gemm_vectorized<false, true> : gemm_vectorized<false, false>);
    launch_gemm<true>(kernel, transpose_a(work), {kVectorsTile, kVectorsTile}, dim3(kVectorsThreads, kVectorsThreads));
}

CORNERTURN_RUNG(kVectorized, gemm_operation(),
                multiplying("", "002 matrixMul_4", &run_vectorized, &transposed_a_floats, 2245.22))

}  // namespace CORNERTURN_KERNELS
