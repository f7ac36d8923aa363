#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kReindexed{
    .id = "transpose/reindexed",
    .idea = "A rectangular tile. For the write, the threads are numbered anew along the destination's rows.",
    .change = "From unindexed: a thread writes another thread's element, so neighbours write adjacent addresses.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e, read in pieces as long as a tile's row and written in pieces as long as its column",
    .limit = "In small tiles, pieces shorter than a sector. In large tiles, bank conflicts.",
    .source =
        "Note 004 figure 2.2. Its return before the barrier is left out: threads outside the matrix must reach "
        "the barrier too.",
};

// The block has kCols x kRows threads, one for each element.
template <class T, int kCols, int kRows>
__global__ void transpose_reindexed(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kRows][kCols];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kRows, col0 = at.col * kCols;
    if (row0 + threadIdx.y < source.rows && col0 + threadIdx.x < source.cols) {
        tile[threadIdx.y][threadIdx.x] = source.data[(row0 + threadIdx.y) * source.ld + col0 + threadIdx.x];
    }
    __syncthreads();  // a thread writes an element that another thread has loaded
    const int linear = threadIdx.y * kCols + threadIdx.x;
    const int row = linear % kRows, col = linear / kRows;  // within the tile
    if (row0 + row < source.rows && col0 + col < source.cols) {
        destination.data[(col0 + col) * destination.ld + row0 + row] = tile[row][col];
    }
}

template <int kCols, int kRows>
struct reindexed {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_reindexed<T, kCols, kRows>, work, {kRows, kCols}, dim3(kCols, kRows));
    }
};

CORNERTURN_RUNG(kReindexed, transpose_operation(), scalar<reindexed<2, 2>>("2x2", "004 code"),
                scalar<reindexed<3, 4>>("3x4", "004 example"), scalar<reindexed<32, 8>>("32x8", "004 figure 2.2"),
                scalar<reindexed<8, 32>>("8x32", "004 figure 2.2"))

}  // namespace CORNERTURN_KERNELS
