#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kUnindexed{
    .id = "transpose/unindexed",
    .idea = "Go through shared memory, but let each thread take back its own element: the write stays strided.",
    .change = "From naive_read: a step through shared memory, which gains nothing.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e, but each warp's store touches 32 sectors",
    .limit = "As in naive_read, plus the cost of shared memory.",
    .source = "Note 004, figures 1 and 2.1.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_unindexed(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kTile][kTile];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t col = at.col * kTile + threadIdx.x;
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = at.row * kTile + threadIdx.y + i;
        if (row < source.rows && col < source.cols) {
            tile[threadIdx.y + i][threadIdx.x] = source.data[row * source.ld + col];
        }
    }
    __syncthreads();  // as in the note; each thread reads back what it wrote itself
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = at.row * kTile + threadIdx.y + i;
        if (row < source.rows && col < source.cols) {
            destination.data[col * destination.ld + row] = tile[threadIdx.y + i][threadIdx.x];
        }
    }
}

template <int kTile, int kRows>
struct unindexed {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_unindexed<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kUnindexed, transpose_operation(), scalar<unindexed<32, 8>>("32x8", "004 figure 2.1"))

}  // namespace CORNERTURN_KERNELS
