#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kShared{
    .id = "transpose/shared",
    .idea = "A square tile in shared memory, read back down its columns: coalesced both ways.",
    .change = "From reindexed: a square tile. To re-index, a thread now only swaps its two indices.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "Bank conflicts: a column of the tile lies in few banks. A warp's read takes up to 32 wavefronts.",
    .source = "Note 000 v1; note 003 step2; note 002 matrixTranspos_2.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_shared(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kTile][kTile];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
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
struct shared_tile {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_shared<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kShared, transpose_operation(), scalar<shared_tile<16, 16>>("16x16", "000 v1"),
                scalar<shared_tile<32, 32>>("32x32", "003 step2"),
                scalar<shared_tile<32, 8>>("32x8", "002 matrixTranspos_2"))

}  // namespace CORNERTURN_KERNELS
