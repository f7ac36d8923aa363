// Transposes that are right on packed matrices of usual values. tests/planted_test.py sees each caught from the command
// line.
#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kTile = 32, kRows = 8;

enum class fault { cols_for_ld, positive_zero, cleared_ones, no_edges, rows_for_cols };

constexpr element4 kNegativeZero = 0x80000000u, kOnes = 0xffffffffu;

template <fault kFault>
__global__ void planted_transpose(matrix_view<const element4> source, matrix_view<element4> destination) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t col = at.col * kTile + threadIdx.x;
    const std::int64_t ld = kFault == fault::cols_for_ld ? source.cols : source.ld;
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = at.row * kTile + threadIdx.y + i;
        const std::int64_t rows = kFault == fault::rows_for_cols ? source.cols : source.rows;
        const std::int64_t cols = kFault == fault::rows_for_cols ? source.rows : source.cols;
        if (kFault != fault::no_edges && (row >= rows || col >= cols)) continue;
        element4 value = source.data[row * ld + col];
        if (kFault == fault::positive_zero && value == kNegativeZero) value = 0;
        if (kFault == fault::cleared_ones && value == kOnes) value = 0;
        destination.data[col * destination.ld + row] = value;
    }
}

template <fault kFault>
struct planted {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(planted_transpose<kFault>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

constexpr rung_notes kPlanted{
    .id = "fault/transpose",
    .idea = "A transpose with one fault.",
    .change = "One line.",
    .contract = "Right where nothing is out of the ordinary.",
    .bytes = "2 * rows * cols * 4",
    .limit = "-",
    .source = "-",
};

}  // namespace

CORNERTURN_RUNG(kPlanted, transpose_operation(), only<planted<fault::cols_for_ld>, element4>("cols_for_ld", "-"),
                only<planted<fault::positive_zero>, element4>("positive_zero", "-"),
                only<planted<fault::cleared_ones>, element4>("cleared_ones", "-"),
                only<planted<fault::no_edges>, element4>("no_edges", "-"),
                only<planted<fault::rows_for_cols>, element4>("rows_for_cols", "-"))

}  // namespace CORNERTURN_KERNELS
