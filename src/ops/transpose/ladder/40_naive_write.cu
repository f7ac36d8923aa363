#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kNaiveWrite{
    .id = "transpose/naive_write",
    .idea = "Neighbouring threads read down a column and write along a row: strided read, coalesced write.",
    .change = "From naive_read: now the read is strided, not the write.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e, but each warp's load touches 32 sectors",
    .limit = "The strided read: a sector is read for one element, unless the cache keeps it for the neighbours.",
    .source = "Note 003 step1.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_naive_write(matrix_view<const T> source, matrix_view<T> destination) {
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTile + threadIdx.x;
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t col = at.col * kTile + threadIdx.y + i;
        if (row < source.rows && col < source.cols) {
            destination.data[col * destination.ld + row] = source.data[row * source.ld + col];
        }
    }
}

template <int kTile, int kRows>
struct naive_write {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose<column_major>(transpose_naive_write<T, kTile, kRows>, work, {kTile, kTile},
                                       dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kNaiveWrite, transpose_operation(), scalar<naive_write<32, 32>>("32x32", "003 step1"))

}  // namespace CORNERTURN_KERNELS
