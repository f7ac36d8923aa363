// Tiles that are read and written by 16-byte vectors: for addresses and rows that are aligned to 16 bytes.
//
// Blocks are numbered down the source's columns of tiles, so that those which run together write neighbouring parts of
// the same rows of the destination.
//
// Strips, long and narrow tiles, are for matrices of few columns, which they hold whole, and the other way round for
// those of few rows. A batch of low matrices whose rows follow each other is one tall matrix; each of a tile's vectors
// is some matrix's own.
#include "ops/transpose/kernels/kernels.hpp"
#include "ops/transpose/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Threads that a multiprocessor is to hold, by the vectors that each has under way, in registers.
constexpr int resident(int element, int vectors) {
    if (element == 1) return vectors > 4 ? 1280 : 1024;
    return vectors > 2 ? 1536 : 2048;
}
template <int kElement, int kTileRows, int kTileCols, int kThreads>
inline constexpr int kResident = resident(kElement,
                                          vector_tile<kElement, kTileRows, kTileCols, kThreads>::kVectors / kThreads);
template <>
inline constexpr int kResident<16, 16, 32, 128> = 2048;  // all blocks of 1024 x 1024 at a time

// Moves the tile that begins at `source`, or the rows x cols of it that are there; offset_of: as for Tile::store().
// kEdges: there may be less than a tile.
template <class Tile, bool kEdges, class F>
__device__ __forceinline__ void move_tile(const matrix_work& work, const byte* source, byte* destination,
                                          std::int64_t rows, std::int64_t cols, uint4* tile, F offset_of) {
    const result_policy result = policy_for(work);
    const read_policy read(work.keeps_lines);
    if (!kEdges || (rows >= Tile::kGroups * Tile::kRows && cols >= Tile::kVectorsPerRow * Tile::kRows)) {
        Tile::template load<true>(source, work.source_ld, rows, cols, read, tile);
        __syncthreads();
        Tile::template store<true>(destination, work.destination_ld, rows, cols, tile, result, offset_of);
    } else {
        Tile::template load<false>(source, work.source_ld, rows, cols, read, tile);
        __syncthreads();
        Tile::template store<false>(destination, work.destination_ld, rows, cols, tile, result, offset_of);
    }
}

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads, bool kEdges>
__global__ void CORNERTURN_RESIDENT(kThreads, (kResident<kElement, kTileRows, kTileCols, kThreads>))
    transpose_vector(matrix_work work) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    const tile_index at = Order::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols, matrix = blockIdx.z;
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source =
        static_cast<const byte*>(work.source) + (matrix * work.source_stride + row * work.source_ld + col) * kElement;
    byte* const destination = static_cast<byte*>(work.destination) +
                              (matrix * work.destination_stride + col * work.destination_ld + row) * kElement;
    wait_for_work_ahead();
    move_tile<tiles, kEdges>(work, source, destination, rows, cols, tile,
                             [](int group) { return group * tiles::kRows; });
}

// work.rows are those of all matrices, groups_of_one groups of them to a matrix.
template <int kElement, int kTileRows, int kTileCols, int kThreads>
__global__ void CORNERTURN_RESIDENT(kThreads, (kResident<kElement, kTileRows, kTileCols, kThreads>))
    transpose_vector_stacked(matrix_work work, unsigned groups_of_one) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols;
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source = static_cast<const byte*>(work.source) + (row * work.source_ld + col) * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + col * work.destination_ld * kElement;
    const unsigned first = static_cast<unsigned>(at.row) * tiles::kGroups;
    const auto offset_of = [=](int group) {
        const unsigned g = first + static_cast<unsigned>(group), matrix = g / groups_of_one;
        return matrix * work.destination_stride + static_cast<std::int64_t>(g - matrix * groups_of_one) * tiles::kRows;
    };
    move_tile<tiles, true>(work, source, destination, rows, cols, tile, offset_of);
}

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const matrix_work& work) {
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    for_each_slab<Order, slab_order::transposed>(
        work, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.early = true;
            // Where a thread has many vectors, the code for edges slows down the rest: that is long, and takes
            // registers.
            if constexpr (tiles::kVectors / kThreads > 4) {
                if (part.rows % kTileRows == 0 && part.cols % kTileCols == 0)
                    return launch(shape, transpose_vector<Order, kElement, kTileRows, kTileCols, kThreads, false>,
                                  part);
            }
            launch(shape, transpose_vector<Order, kElement, kTileRows, kTileCols, kThreads, true>, part);
        });
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
void run_stacked(const matrix_work& work) {
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    matrix_work stack = work;
    stack.rows = work.rows * work.count;
    stack.count = 1;
    for_each_slab<column_major, slab_order::transposed>(
        stack, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.tiles = nullptr;  // where a tile goes depends on its matrix
            launch(shape, transpose_vector_stacked<kElement, kTileRows, kTileCols, kThreads>, part,
                   static_cast<unsigned>(work.rows / tiles::kRows));
        });
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
constexpr production_kernel tuned() {
    return {{path::vector, kElement, kTileRows, kTileCols, kThreads},
            &run<column_major, kElement, kTileRows, kTileCols, kThreads>};
}
// Columns 16 KiB apart: memory deals out addresses by the parity of some of their bits, of which this is one
// (docs/experiments.md).
template <int kElement, int kTileRows, int kTileCols, int kThreads>
constexpr production_kernel apart() {
    constexpr unsigned kApart = (16 << 10) / (kTileCols * kElement);
    static_assert(kApart * kTileCols * kElement == 16 << 10);
    return {{path::vector_apart, kElement, kTileRows, kTileCols, kThreads},
            &run<columns_apart<kApart>, kElement, kTileRows, kTileCols, kThreads>};
}
template <int kElement, int kTileRows, int kTileCols, int kThreads>
constexpr production_kernel stacked() {
    return {{path::vector_stacked, kElement, kTileRows, kTileCols, kThreads},
            &run_stacked<kElement, kTileRows, kTileCols, kThreads>};
}

constexpr production_kernel kKernels[] = {
    tuned<1, 256, 256, 512>(),
    tuned<1, 128, 256, 256>(),
    tuned<1, 128, 128, 256>(),
    tuned<1, 64, 128, 128>(),
    tuned<2, 128, 128, 512>(),
    tuned<2, 64, 128, 512>(),
    tuned<2, 64, 64, 256>(),
    tuned<4, 64, 64, 512>(),
    tuned<4, 32, 32, 256>(),
    tuned<8, 64, 32, 512>(),
    tuned<8, 32, 32, 256>(),
    tuned<16, 64, 16, 512>(),
    tuned<16, 32, 16, 256>(),
    tuned<16, 16, 32, 128>(),
    apart<1, 256, 256, 512>(),
    apart<2, 128, 128, 512>(),
    apart<4, 64, 64, 512>(),
    apart<8, 64, 32, 512>(),
    apart<16, 64, 16, 512>(),
    // Strips: tall ones, low ones, and tall ones for batches.
    tuned<1, 1024, 16, 256>(),
    tuned<1, 512, 32, 256>(),
    tuned<1, 256, 64, 256>(),
    tuned<2, 512, 16, 256>(),
    tuned<2, 256, 32, 256>(),
    tuned<2, 128, 64, 256>(),
    tuned<4, 256, 16, 256>(),
    tuned<4, 128, 32, 256>(),
    tuned<4, 64, 64, 256>(),
    tuned<8, 128, 16, 256>(),
    tuned<8, 64, 32, 256>(),
    tuned<16, 64, 16, 256>(),
    tuned<16, 32, 32, 256>(),  //
    tuned<1, 16, 1024, 256>(),
    tuned<1, 32, 512, 256>(),
    tuned<1, 64, 256, 256>(),
    tuned<2, 16, 512, 256>(),
    tuned<2, 32, 256, 256>(),
    tuned<2, 64, 128, 256>(),
    tuned<4, 16, 256, 256>(),
    tuned<4, 32, 128, 256>(),
    tuned<8, 16, 128, 256>(),
    tuned<8, 32, 64, 256>(),
    tuned<16, 16, 64, 256>(),  //
    stacked<1, 1024, 16, 256>(),
    stacked<1, 512, 32, 256>(),
    stacked<1, 256, 64, 256>(),
    stacked<1, 128, 128, 256>(),
    stacked<2, 512, 16, 256>(),
    stacked<2, 256, 32, 256>(),
    stacked<2, 128, 64, 256>(),
    stacked<4, 256, 16, 256>(),
    stacked<4, 128, 32, 256>(),
    stacked<4, 64, 64, 256>(),
    stacked<8, 128, 16, 256>(),
    stacked<8, 64, 32, 256>(),
    stacked<16, 64, 16, 256>(),
    stacked<16, 32, 32, 256>(),
};

}  // namespace

production_kernels vector_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
