#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kQuadrants{
    .id = "gemm/quadrants",
    .idea =
        "16 x 16 threads compute a 128 x 128 tile of C. Each thread keeps a 4 x 4 block in each 64 x 64 quadrant. A is "
        "transposed first.",
    .change =
        "From blocked: 64 multiply-adds need 16 loads from shared memory; before, 16 needed 8. A is now read like B.",
    .contract = "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k)",
    .limit = "Instructions other than multiply-adds: it uses four scalar loads where one vector load would do.",
    .source = "Note 002 matrixMul_3.",
};

constexpr int kQuadrantsTile = 128, kQuadrantsDepth = 8, kQuadrantsThreads = 16, kQuadrantsEach = 4;

// `work.a` is A's transpose.
__global__ void gemm_quadrants(gemm_work work) {
    __shared__ float a[kQuadrantsDepth][kQuadrantsTile], b[kQuadrantsDepth][kQuadrantsTile];
    constexpr int kHalf = kQuadrantsTile / 2;
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kQuadrantsThreads + x;
    const std::int64_t row0 = at.row * kQuadrantsTile, col0 = at.col * kQuadrantsTile;
    const int loaded_step = thread / 32, loaded = thread % 32 * kQuadrantsEach;
    float sums[2][2][kQuadrantsEach][kQuadrantsEach] = {};
    for (std::int64_t step = 0; step < work.k; step += kQuadrantsDepth) {
        const std::int64_t in_k = step + loaded_step;
        CORNERTURN_UNROLL
        for (int j = 0; j < kQuadrantsEach; ++j) {
            const std::int64_t row = row0 + loaded + j, col = col0 + loaded + j;
            a[loaded_step][loaded + j] = in_k < work.k && row < work.m ? work.a[in_k * work.lda + row] : 0;
            b[loaded_step][loaded + j] = in_k < work.k && col < work.n ? work.b[in_k * work.ldb + col] : 0;
        }
        __syncthreads();
        CORNERTURN_UNROLL
        for (int i = 0; i < kQuadrantsDepth; ++i) {
            float of_a[2][kQuadrantsEach], of_b[2][kQuadrantsEach];
            CORNERTURN_UNROLL
            for (int half = 0; half < 2; ++half) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kQuadrantsEach; ++j) {
                    of_a[half][j] = a[i][half * kHalf + y * kQuadrantsEach + j];
                    of_b[half][j] = b[i][half * kHalf + x * kQuadrantsEach + j];
                }
            }
            CORNERTURN_UNROLL
            for (int quadrant = 0; quadrant < 4; ++quadrant) {
                const int down = quadrant / 2, across = quadrant % 2;
                CORNERTURN_UNROLL
                for (int r = 0; r < kQuadrantsEach; ++r) {
                    CORNERTURN_UNROLL
                    for (int c = 0; c < kQuadrantsEach; ++c)
                        sums[down][across][r][c] += of_a[down][r] * of_b[across][c];
                }
            }
        }
        __syncthreads();
    }
    CORNERTURN_UNROLL
    for (int quadrant = 0; quadrant < 4; ++quadrant) {
        const int down = quadrant / 2, across = quadrant % 2;
        CORNERTURN_UNROLL
        for (int r = 0; r < kQuadrantsEach; ++r) {
            CORNERTURN_UNROLL
            for (int c = 0; c < kQuadrantsEach; ++c) {
                store_product(work, row0 + down * kHalf + y * kQuadrantsEach + r,
                              col0 + across * kHalf + x * kQuadrantsEach + c, sums[down][across][r][c]);
            }
        }
    }
}

void run_quadrants(const gemm_work& work) {
    launch_gemm<true>(gemm_quadrants, transpose_a(work), {kQuadrantsTile, kQuadrantsTile},
                      dim3(kQuadrantsThreads, kQuadrantsThreads));
}

CORNERTURN_RUNG(kQuadrants, gemm_operation(),
                multiplying("", "002 matrixMul_3", &run_quadrants, &transposed_a_floats, 2063.63))

}  // namespace CORNERTURN_KERNELS
