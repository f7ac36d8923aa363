#include "ops/copy/movement_rung.hpp"
#include "ops/reverse/reverse.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kReversePlain{
    .id = "reverse/plain",
    .idea = "A thread an element: reads it where it is, writes it to the row across.",
    .change = "The first rung.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "A test.",
};

template <class T>
__global__ void reverse_plain(matrix_view<const T> source, matrix_view<T> destination) {
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * 8 + threadIdx.y, col = at.col * 32 + threadIdx.x;
    if (row < source.rows && col < source.cols)
        destination.data[(source.rows - 1 - row) * destination.ld + col] = source.data[row * source.ld + col];
}

struct plain {
    template <class T>
    static void run(const matrix_work& work) {
        launch_copy<column_major>(reverse_plain<T>, work, {8, 32}, dim3(32, 8));
    }
};

CORNERTURN_RUNG(kReversePlain, reverse_operation(), scalar<plain>("32x8", "-"))

}  // namespace CORNERTURN_KERNELS
