#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kDiagonal{
    .id = "transpose/diagonal",
    .idea = "Blocks take tiles along diagonals, so blocks that run together write to different columns.",
    .change = "From padded: only the order in which blocks take tiles.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "As in padded. The order helps only where partition camping occurs.",
    .source = "Note 002 matrixTranspos_4.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_diagonal(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kTile][kTile + 1];
    const tile_index at = diagonal::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kTile, col0 = at.col * kTile;
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = row0 + threadIdx.y + i, col = col0 + threadIdx.x;
        if (row < source.rows && col < source.cols) {
            tile[threadIdx.y + i][threadIdx.x] = source.data[row * source.ld + col];
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = col0 + threadIdx.y + i, col = row0 + threadIdx.x;  // in the destination
        if (row < destination.rows && col < destination.cols) {
            destination.data[row * destination.ld + col] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}

template <int kTile, int kRows>
struct diagonal_order {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose<diagonal>(transpose_diagonal<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kDiagonal, transpose_operation(), scalar<diagonal_order<32, 8>>("32x8", "002 matrixTranspos_4"))

}  // namespace CORNERTURN_KERNELS
