#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kCopyShared{
    .id = "copy/shared",
    .idea = "Copy through a tile in shared memory, to see what that step costs by itself.",
    .change = "From copy/global: each element is stored in shared memory between its load and its store.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth. Each element also takes one more store, one more load, and a barrier.",
    .source = "Note 002, matrixCopy_2.",
};

template <class T, int kTile, int kRows>
__global__ void copy_shared(matrix_view<const T> source, matrix_view<T> destination) {
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
    __syncthreads();  // only for the comparison: each thread reads back what it wrote itself
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = at.row * kTile + threadIdx.y + i;
        if (row < source.rows && col < source.cols) {
            destination.data[row * destination.ld + col] = tile[threadIdx.y + i][threadIdx.x];
        }
    }
}

template <int kTile, int kRows>
struct shared {
    template <class T>
    static void run(const matrix_work& work) {
        launch_copy(copy_shared<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kCopyShared, transpose_operation(), copying(scalar<shared<32, 8>>("32x8", "002 matrixCopy_2")))

}  // namespace CORNERTURN_KERNELS
