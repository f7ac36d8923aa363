// Tiles that are read and written by 16-byte vectors: for addresses and rows that are aligned to 16 bytes.
//
// Blocks are numbered down the source's columns of tiles, so that those which run together write neighbouring parts of
// the same rows of the destination.
#include "transpose/production/kernels.hpp"
#include "transpose/production/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kElement, int kTileRows, int kTileCols, int kThreads>
__global__ void CORNERTURN_RESIDENT(kThreads, (kElement == 1 ? 1024 : 2048)) transpose_vector(matrix_work work) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols, matrix = blockIdx.z;
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source =
        static_cast<const byte*>(work.source) + (matrix * work.source_stride + row * work.source_ld + col) * kElement;
    byte* const destination = static_cast<byte*>(work.destination) +
                              (matrix * work.destination_stride + col * work.destination_ld + row) * kElement;
    if (rows >= kTileRows && cols >= kTileCols) {
        tiles::template load<true>(source, work.source_ld, rows, cols, tile);
        __syncthreads();
        tiles::template store<true>(destination, work.destination_ld, rows, cols, tile);
    } else {
        tiles::template load<false>(source, work.source_ld, rows, cols, tile);
        __syncthreads();
        tiles::template store<false>(destination, work.destination_ld, rows, cols, tile);
    }
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const matrix_work& work) {
    for_each_slab<column_major, operation::transpose>(
        work, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = vector_tile<kElement, kTileRows, kTileCols, kThreads>::kBytes;
            launch(shape, transpose_vector<kElement, kTileRows, kTileCols, kThreads>, part);
        });
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
constexpr production_kernel tuned() {
    return {{path::vector, kElement, kTileRows, kTileCols, kThreads}, &run<kElement, kTileRows, kTileCols, kThreads>};
}

constexpr production_kernel kKernels[] = {
    tuned<1, 256, 256, 512>(), tuned<1, 128, 128, 256>(), tuned<2, 128, 128, 1024>(),
    tuned<2, 64, 64, 256>(),   tuned<4, 64, 64, 512>(),   tuned<4, 32, 32, 256>(),
    tuned<8, 32, 32, 256>(),   tuned<16, 32, 16, 256>(),  tuned<16, 16, 16, 128>(),
};

}  // namespace

production_kernels vector_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
