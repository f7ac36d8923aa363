#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kPadded{
    .id = "transpose/padded",
    .idea = "One unused column widens the shared tile. The elements of a column then lie in different banks.",
    .change = "From shared: the tile's rows are one element longer.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth and bytes in flight. In tiles 16 wide, a warp takes two rows: 2 wavefronts remain.",
    .source = "Note 000 v2 and v3; note 003 step3; note 001 K1; note 002 matrixTranspos_3.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_padded(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[kTile][kTile + 1];
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
struct padded {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_padded<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kPadded, transpose_operation(), scalar<padded<16, 16>>("16x16", "000 v2"),
                scalar<padded<32, 32>>("32x32", "003 step3, 001 K1"),
                scalar<padded<32, 8>>("32x8", "000 v3, 002 matrixTranspos_3"),
                // Only the threads differ: docs/why.md uses these to tell bytes in flight from the number of blocks.
                scalar<padded<16, 4>>("16x4", "-"), scalar<padded<32, 4>>("32x4", "-"))

}  // namespace CORNERTURN_KERNELS
