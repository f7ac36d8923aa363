#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kRolled{
    .id = "transpose/rolled",
    .idea = "As padded, but a thread waits for each element before it loads the next: one load in flight.",
    .change = "From padded@32x8: the loops are not unrolled. Blocks, threads and accesses stay the same.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "Bytes in flight: each thread moves several elements, but only one at a time.",
    .source = "Made for a question that note 000 leaves open: why does coarsening help? See docs/why.md.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_rolled(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kTile][kTile + 1];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kTile, col0 = at.col * kTile;
    CORNERTURN_UNROLL_BY(1)
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = row0 + threadIdx.y + i, col = col0 + threadIdx.x;
        if (row < source.rows && col < source.cols) {
            tile[threadIdx.y + i][threadIdx.x] = source.data[row * source.ld + col];
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    CORNERTURN_UNROLL_BY(1)
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = col0 + threadIdx.y + i, col = row0 + threadIdx.x;  // in the destination
        if (row < destination.rows && col < destination.cols) {
            destination.data[row * destination.ld + col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

template <int kTile, int kRows>
struct rolled {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_rolled<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kRolled, transpose_operation(), scalar<rolled<32, 8>>("32x8", "-"))

}  // namespace CORNERTURN_KERNELS
