#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kWarpRows{
    .id = "gemm/warp-rows",
    .idea =
        "For few columns of C: no tile in shared memory. A warp computes 4 rows and 8 columns of C. Its lanes divide k "
        "among them, and shuffles add up their sums.",
    .change =
        "From bulk: each float of A goes from memory to one register, and no thread waits for another before the end. "
        "A block has only 2 warps: 1024 rows then make 128 blocks, not 8.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. B is loaded in vectors where "
        "it is aligned to 16 bytes, and n and its leading dimension are multiples of 4. Elsewhere it is loaded in "
        "scalars.",
    .bytes = "4 * (m * n * k / 8 + m * n * k / 4 + m * n)",
    .limit =
        "Memory: each float of A gives 2 * n FLOPs, at most 16. Wider products read A again for every 8 columns, and B "
        "for every 4 rows.",
    .source = "docs/why.md.",
};

constexpr int kWarpRowsWarps = 2, kWarpRowsDown = 4,
              kWarpRowsAcross = 8;  // a warp's part of C: one lane for each element

template <bool kVectorB>
__global__ void __launch_bounds__(kWarpRowsWarps * 32) gemm_warp_rows(gemm_work work) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int lane = static_cast<int>(threadIdx.x);
    const std::int64_t row0 = (at.row * kWarpRowsWarps + threadIdx.y) * kWarpRowsDown, col0 = at.col * kWarpRowsAcross;
    if (row0 >= work.m) return;  // the whole warp returns
    float sums[kWarpRowsDown * kWarpRowsAcross] = {};
    CORNERTURN_UNROLL_BY(4)
    for (std::int64_t step = lane; step < work.k; step += 32) {
        float of_a[kWarpRowsDown], of_b[kWarpRowsAcross] = {};
        CORNERTURN_UNROLL
        for (int i = 0; i < kWarpRowsDown; ++i) of_a[i] = row0 + i < work.m ? work.a[(row0 + i) * work.lda + step] : 0;
        constexpr int kWidth = kVectorB ? 4 : 1;
        CORNERTURN_UNROLL
        for (int j = 0; j < kWarpRowsAcross; j += kWidth) {
            const std::int64_t col = col0 + j;
            if (col < work.n) {
                if constexpr (kVectorB)
                    load_four(&of_b[j], work.b + step * work.ldb + col);
                else
                    of_b[j] = work.b[step * work.ldb + col];
            }
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kWarpRowsDown; ++i) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kWarpRowsAcross; ++j) sums[i * kWarpRowsAcross + j] += of_a[i] * of_b[j];
        }
    }
    // Each lane gives away the half of its sums that its partner keeps, and adds what it receives to the other half.
    // This takes 31 shuffles; adding up each sum by itself takes 160. In the end, lane l has sum l.
    CORNERTURN_UNROLL
    for (int half = 16; half > 0; half /= 2) {
        const bool upper = (lane & half) != 0;
        CORNERTURN_UNROLL
        for (int i = 0; i < half; ++i) {
            const float given = upper ? sums[i] : sums[i + half];
            sums[i] = (upper ? sums[i + half] : sums[i]) + __shfl_xor_sync(0xffffffffu, given, half);
        }
    }
    store_product(work, row0 + lane / kWarpRowsAcross, col0 + lane % kWarpRowsAcross, sums[0]);
}

void run_warp_rows(const gemm_work& work) {
    const bool vector_b = work.n % 4 == 0 && rows_of_fours(work.b, work.ldb);
    launch_gemm(vector_b ? gemm_warp_rows<true> : gemm_warp_rows<false>, work,
                {kWarpRowsWarps * kWarpRowsDown, kWarpRowsAcross}, dim3(32, kWarpRowsWarps));
}

CORNERTURN_RUNG(kWarpRows, gemm_operation(), multiplying("", "-", &run_warp_rows))

}  // namespace CORNERTURN_KERNELS
