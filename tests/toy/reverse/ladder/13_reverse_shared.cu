#include "ops/copy/movement_rung.hpp"
#include "ops/reverse/reverse.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kReverseShared{
    .id = "reverse/shared",
    .idea = "Eight rows through shared memory, written from the last one on.",
    .change = "From plain: a warp writes another row than it read.",
    .contract = "Any rows x cols, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "A test.",
};

template <class T>
__global__ void reverse_shared(matrix_view<const T> source, matrix_view<T> destination) {
    __shared__ T tile[8][32];
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * 8, col = at.col * 32 + threadIdx.x;
    if (row0 + threadIdx.y < source.rows && col < source.cols)
        tile[threadIdx.y][threadIdx.x] = source.data[(row0 + threadIdx.y) * source.ld + col];
    __syncthreads();  // from here on a thread reads what others have loaded
    const std::int64_t row = row0 + 7 - threadIdx.y;
    if (row < source.rows && col < source.cols)
        destination.data[(source.rows - 1 - row) * destination.ld + col] = tile[7 - threadIdx.y][threadIdx.x];
}

struct shared_rows {
    template <class T>
    static void run(const matrix_work& work) {
        launch_copy<column_major>(reverse_shared<T>, work, {8, 32}, dim3(32, 8));
    }
};

CORNERTURN_RUNG(kReverseShared, reverse_operation(), scalar<shared_rows>("32x8", "-"))

}  // namespace CORNERTURN_KERNELS
