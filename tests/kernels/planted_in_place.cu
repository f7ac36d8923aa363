// Transposes of square matrices in place, whose threads race in global memory, each in one way. tests/races_test.cpp
// sees every one of them caught.
#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kTile = 32, kRows = 8;

enum class fault {
    none,
    both_of_a_pair,            // two blocks exchange the same tiles
    one_tile_each,             // a block writes a tile where another reads its own
    both_of_an_elements_pair,  // two threads of a block exchange the same elements
    late_load                  // a tile is read while other threads of the block write it
};

// A block exchanges a tile below the diagonal, or on it, with its mirror image.
template <fault kFault>
__global__ void planted_in_place(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ element4 below[kTile][kTile + 1], above[kTile][kTile + 1];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    if (kFault != fault::both_of_a_pair && kFault != fault::one_tile_each && at.row < at.col) return;
    const std::int64_t row0 = at.row * kTile, col0 = at.col * kTile, n = source.rows;
    const int tx = threadIdx.x, ty = threadIdx.y;
    element4* const data = destination.data;
    const auto element = [&](std::int64_t row, std::int64_t col) { return data + row * destination.ld + col; };

    if (kFault == fault::both_of_an_elements_pair && row0 == col0) {
        for (int i = ty; i < kTile; i += kRows) {
            if (row0 + i >= n || col0 + tx >= n) continue;
            const element4 one = *element(row0 + i, col0 + tx), other = *element(col0 + tx, row0 + i);
            *element(row0 + i, col0 + tx) = other;
            *element(col0 + tx, row0 + i) = one;
        }
        return;
    }
    const auto load_above = [&](int first) {
        for (int i = first; i < kTile; i += kRows)
            if (col0 + i < n && row0 + tx < n) above[i][tx] = *element(col0 + i, row0 + tx);
    };
    for (int i = ty; i < kTile; i += kRows)
        if (row0 + i < n && col0 + tx < n) below[i][tx] = *element(row0 + i, col0 + tx);
    if (kFault != fault::late_load && kFault != fault::one_tile_each) load_above(ty);
    __syncthreads();
    for (int i = ty; i < kTile; i += kRows)
        if (col0 + i < n && row0 + tx < n) *element(col0 + i, row0 + tx) = below[tx][i];
    if (kFault == fault::one_tile_each) return;
    if (kFault == fault::late_load) {
        load_above(ty ^ 1);  // what another warp writes
        __syncthreads();
    }
    if (row0 == col0) return;
    for (int i = ty; i < kTile; i += kRows)
        if (row0 + i < n && col0 + tx < n) *element(row0 + i, col0 + tx) = above[tx][i];
}

template <fault kFault>
struct planted {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(planted_in_place<kFault>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

constexpr rung_notes kPlanted{
    .id = "fault/in_place",
    .idea = "A transpose in place with one fault.",
    .change = "One line.",
    .contract = "Sound at best where all blocks and warps run one after the other.",
    .bytes = "2 * rows * cols * 4",
    .limit = "-",
    .source = "-",
};

}  // namespace

CORNERTURN_RUNG(kPlanted, transpose_operation(), only<planted<fault::none>, element4>("none", "-"),
                only<planted<fault::both_of_a_pair>, element4>("both_of_a_pair", "-"),
                only<planted<fault::one_tile_each>, element4>("one_tile_each", "-"),
                only<planted<fault::both_of_an_elements_pair>, element4>("both_of_an_elements_pair", "-"),
                only<planted<fault::late_load>, element4>("late_load", "-"))

}  // namespace CORNERTURN_KERNELS
