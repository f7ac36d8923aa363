#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kNaiveRead{
    .id = "transpose/naive_read",
    .idea = "Neighbouring threads read along a row and write down a column: coalesced read, strided write.",
    .change = "From copy/global: row and column are swapped in the write.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e, but each warp's store touches 32 sectors",
    .limit = "The strided write: each sector is written for only one element.",
    .source = "Note 000 v0; note 001 K0; note 002 matrixTranspos_1.",
};

template <class T, int kTile, int kRows>
__global__ void transpose_naive_read(matrix_view<const T> source, matrix_view<T> destination) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t col = at.col * kTile + threadIdx.x;
    CORNERTURN_UNROLL
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = at.row * kTile + threadIdx.y + i;
        if (row < source.rows && col < source.cols) {
            destination.data[col * destination.ld + row] = source.data[row * source.ld + col];
        }
    }
}

template <int kTile, int kRows>
struct naive_read {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(transpose_naive_read<T, kTile, kRows>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

CORNERTURN_RUNG(kNaiveRead, transpose_operation(), scalar<naive_read<16, 16>>("16x16", "000 v0"),
                scalar<naive_read<32, 32>>("32x32", "001 K0"),
                scalar<naive_read<32, 8>>("32x8", "002 matrixTranspos_1"))

}  // namespace CORNERTURN_KERNELS
