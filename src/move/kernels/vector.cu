// Tiles that are read and written in 16-byte vectors, for addresses and rows that are aligned to 16 bytes.
//
// Blocks are numbered down the source's columns of tiles. Blocks that run together then write neighbouring parts of the
// same rows of the destination.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Threads that a multiprocessor should hold.
template <int kElement, int kTileRows, int kTileCols, int kThreads>
inline constexpr int kResident =
    moves::resident_of_vector(kElement, vector_tile<kElement, kTileRows, kTileCols, kThreads>::kVectors / kThreads);
template <>
inline constexpr int kResident<16, 16, 32, 128> = 2048;  // all blocks of a 1024 x 1024 matrix run at the same time

// Moves the tile at `source`, or the rows x cols of it that exist. kEdges: some tiles may be cut off.
template <class Tile, bool kEdges>
__device__ __forceinline__ void move_tile(const moves::matrices_work& work, const byte* source, byte* destination,
                                          std::int64_t rows, std::int64_t cols, uint4* tile, result_policy result) {
    const read_policy read(work.keeps_lines);
    if (!kEdges || (rows >= Tile::kGroups * Tile::kRows && cols >= Tile::kVectorsPerRow * Tile::kRows)) {
        Tile::template load<true>(source, work.source_ld, rows, cols, read, tile);
        __syncthreads();
        Tile::template store<true>(destination, work.destination_ld, rows, cols, tile, result);
    } else {
        Tile::template load<false>(source, work.source_ld, rows, cols, read, tile);
        __syncthreads();
        Tile::template store<false>(destination, work.destination_ld, rows, cols, tile, result);
    }
}

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads, bool kEdges>
__global__ void CORNERTURN_RESIDENT(kThreads, (kResident<kElement, kTileRows, kTileCols, kThreads>))
    transpose_vector(moves::matrices_work work, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    const tile_index at = Order::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols;
    const place_of_matrix matrix(work);
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source =
        static_cast<const byte*>(work.source) + (matrix.source + row * work.source_ld + col) * kElement;
    byte* const destination =
        static_cast<byte*>(work.destination) + (matrix.destination + col * work.destination_ld + row) * kElement;
    wait_for_work_ahead();
    move_tile<tiles, kEdges>(work, source, destination, rows, cols, tile, result);
}

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const moves::matrices_work& work, const gpu& on) {
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    for_each_slab<Order, slab_order::transposed>(
        work, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const moves::matrices_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.early = true;
            // If a thread has many vectors, the code for edges slows down the rest: it is long and takes registers.
            if constexpr (tiles::kVectors / kThreads > 4) {
                if (part.rows % kTileRows == 0 && part.cols % kTileCols == 0)
                    return launch(shape, transpose_vector<Order, kElement, kTileRows, kTileCols, kThreads, false>, part,
                                  policy_for(part, on));
            }
            launch(shape, transpose_vector<Order, kElement, kTileRows, kTileCols, kThreads, true>, part,
                   policy_for(part, on));
        });
}

// Columns 16 KiB apart. The memory channel of an address depends on the parity of some address bits, and the 16 KiB bit
// is one of them (docs/experiments/transpose.md).
template <int kRowBytes>
constexpr unsigned apart() {
    constexpr unsigned kApart = (16 << 10) / kRowBytes;
    static_assert(kApart * kRowBytes == 16 << 10);
    return kApart;
}

struct vector_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kVector[kRow];
        return &run<column_major, kUse.unit, kUse.tile_rows, kUse.tile_cols, kUse.threads>;
    }
};
struct apart_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kVectorApart[kRow];
        return &run<columns_apart<apart<kUse.tile_cols * kUse.unit>()>, kUse.unit, kUse.tile_rows, kUse.tile_cols,
                    kUse.threads>;
    }
};

}  // namespace

run_work vector_kernel(int row) { return kernel_of_row<vector_rows>(row, moves::kVector); }
run_work vector_apart_kernel(int row) { return kernel_of_row<apart_rows>(row, moves::kVectorApart); }

}  // namespace CORNERTURN_KERNELS
