#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kCopyGlobal{
    .id = "copy/global",
    .idea = "Copy each element from row to row. Both sides are coalesced: the ceiling for every transpose.",
    .change = "The first rung on the GPU.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "Note 002, matrixCopy_1.",
};

template <class T, int kTile, int kRows>
__global__ void copy_global(matrix_view<const T> source, matrix_view<T> destination) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kTile + threadIdx.y, col = at.col * kTile + threadIdx.x;
    // All loads come before the first store: the compiler must assume that a store changes what is loaded after it.
    T held[kTile / kRows];
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile / kRows; ++i) {
        const std::int64_t row = row0 + i * kRows;
        if (row < source.rows && col < source.cols) held[i] = source.data[row * source.ld + col];
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile / kRows; ++i) {
        const std::int64_t row = row0 + i * kRows;
        if (row < source.rows && col < source.cols) destination.data[row * destination.ld + col] = held[i];
    }
}

template <int kTile, int kRows>
struct global {
    template <class T>
    static void run(const matrix_work& work) {
        launch_copy(copy_global<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kCopyGlobal, transpose_operation(), copying(scalar<global<32, 8>>("32x8", "002 matrixCopy_1")))

}  // namespace CORNERTURN_KERNELS
