#include "ops/copy/movement_rung.hpp"
#include "ops/reverse/reverse.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kReverseLibrary{
    .id = "reverse/production",
    .idea = "As plain, by blocks of two rows; its kernel and its struct are called as those of plain.",
    .change = "From plain: two rows a block.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "A test.",
};

template <class T>
__global__ void reverse_plain(matrix_view<const T> source, matrix_view<T> destination) {
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * 2 + threadIdx.y, col = at.col * 32 + threadIdx.x;
    if (row < source.rows && col < source.cols)
        destination.data[(source.rows - 1 - row) * destination.ld + col] = source.data[row * source.ld + col];
}

struct plain {
    template <class T>
    static void run(const matrix_work& work) {
        launch_copy<column_major>(reverse_plain<T>, work, {2, 32}, dim3(32, 2));
    }
};

CORNERTURN_RUNG(kReverseLibrary, reverse_operation(), scalar<plain>("", "-"))

}  // namespace CORNERTURN_KERNELS
