// Transposes of matrices, and conversions on the way, by tiles that are read and written in 16-byte vectors. Addresses
// and rows are aligned to vectors.
//
// Blocks are numbered down the source's columns of tiles. Blocks that run together then write neighbouring parts of the
// same rows of the destination.
#pragma once

#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {

// Elements as they are. cast.hpp has the alternative.
template <int kBytes>
struct moved_matrix : moved_vectors<kBytes> {
    struct work {};

    __device__ __forceinline__ moved_matrix(const moves::matrices_work& matrices, work, std::int64_t, std::int64_t)
        : moved_vectors<kBytes>{read_policy(matrices.keeps_lines)} {}
};

// kEdges: some tiles may be cut off.
template <class Order, class Move, int kTileRows, int kTileCols, int kThreads, int kResident, bool kEdges>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident)
    transpose_vector(moves::matrices_work work, typename Move::work by, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<Move::kUnit, kTileRows, kTileCols, kThreads>;
    const tile_index at = Order::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols;
    const place_of_matrix matrix(work);
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source =
        static_cast<const byte*>(work.source) + (matrix.source + row * work.source_ld + col) * Move::kSourceUnit;
    byte* const destination =
        static_cast<byte*>(work.destination) + (matrix.destination + col * work.destination_ld + row) * Move::kUnit;
    const Move move(work, by, row, col);
    wait_for_work_ahead();
    if (!kEdges || (rows >= kTileRows && cols >= kTileCols)) {
        tiles::template load<true>(source, work.source_ld, rows, cols, tile, move);
        __syncthreads();
        tiles::template store<true>(destination, work.destination_ld, rows, cols, tile, result);
    } else {
        tiles::template load<false>(source, work.source_ld, rows, cols, tile, move);
        __syncthreads();
        tiles::template store<false>(destination, work.destination_ld, rows, cols, tile, result);
    }
}

template <class Order, class Move, int kTileRows, int kTileCols, int kThreads, int kResident>
void run_vector(const moves::matrices_work& work, const typename Move::work& by, const gpu& on) {
    using tiles = vector_tile<Move::kUnit, kTileRows, kTileCols, kThreads>;
    for_each_slab<Order, slab_order::transposed>(
        work, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const moves::matrices_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.early = true;
            // If a thread has many vectors, the code for edges slows down the rest: it is long and takes registers.
            if constexpr (tiles::kVectors / kThreads > 4) {
                if (part.rows % kTileRows == 0 && part.cols % kTileCols == 0)
                    return launch(shape,
                                  transpose_vector<Order, Move, kTileRows, kTileCols, kThreads, kResident, false>, part,
                                  by, policy_for(part, on));
            }
            launch(shape, transpose_vector<Order, Move, kTileRows, kTileCols, kThreads, kResident, true>, part, by,
                   policy_for(part, on));
        });
}

}  // namespace CORNERTURN_KERNELS
