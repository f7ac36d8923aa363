// Tiles that are read and written in 16-byte vectors, for addresses and rows that are aligned to 16 bytes.
//
// Blocks are numbered down the source's columns of tiles. Blocks that run together then write neighbouring parts of the
// same rows of the destination.
//
// Strips are long, narrow tiles. A tall strip holds all columns of a narrow matrix, and a low strip all rows of a low
// matrix. A batch of low matrices whose rows follow each other is handled as one tall matrix: each vector of a tile
// belongs to one of the matrices.
#include "ops/transpose/kernels/kernels.hpp"
#include "ops/transpose/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Threads that a multiprocessor should hold, by the vectors that each has in flight in its registers.
constexpr int resident(int element, int vectors) {
    if (element == 1) return vectors > 4 ? 1280 : 1024;
    return vectors > (element == 2 ? 2 : 4) ? 1536 : 2048;
}
template <int kElement, int kTileRows, int kTileCols, int kThreads>
inline constexpr int kResident = resident(kElement,
                                          vector_tile<kElement, kTileRows, kTileCols, kThreads>::kVectors / kThreads);
template <>
inline constexpr int kResident<16, 16, 32, 128> = 2048;  // all blocks of a 1024 x 1024 matrix run at the same time
// If each vector has its own offset in the destination, this takes registers too.
template <int kElement>
inline constexpr int kResidentStacked = kElement == 1 ? 1024 : 1536;

// Moves the tile at `source`, or the rows x cols of it that exist. offset_of: as for Tile::store(). kEdges: some tiles
// may be cut off.
template <class Tile, bool kEdges, class F>
__device__ __forceinline__ void move_tile(const matrix_work& work, const byte* source, byte* destination,
                                          std::int64_t rows, std::int64_t cols, uint4* tile, result_policy result,
                                          F offset_of) {
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
    transpose_vector(matrix_work work, result_policy result) {
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
    move_tile<tiles, kEdges>(work, source, destination, rows, cols, tile, result,
                             [](int group) { return group * tiles::kRows; });
}

// work.rows counts the rows of all matrices. Each matrix has groups_of_one groups of them.
template <int kElement, int kTileRows, int kTileCols, int kThreads>
__global__ void CORNERTURN_RESIDENT(kThreads, kResidentStacked<kElement>)
    transpose_vector_stacked(matrix_work work, unsigned groups_of_one, result_policy result) {
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
    move_tile<tiles, true>(work, source, destination, rows, cols, tile, result, offset_of);
}

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const matrix_work& work, const gpu& on) {
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    for_each_slab<Order, slab_order::transposed>(
        work, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
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

template <int kElement, int kTileRows, int kTileCols, int kThreads>
void run_stacked(const matrix_work& work, const gpu& on) {
    using tiles = vector_tile<kElement, kTileRows, kTileCols, kThreads>;
    matrix_work stack = work;
    stack.rows = work.rows * work.count;
    stack.count = 1;
    for_each_slab<column_major, slab_order::transposed>(
        stack, {kTileRows, kTileCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.tiles = nullptr;  // where a tile goes depends on its matrix
            launch(shape, transpose_vector_stacked<kElement, kTileRows, kTileCols, kThreads>, part,
                   static_cast<unsigned>(work.rows / tiles::kRows), policy_for(part, on));
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
        constexpr transposes::tuning kUse = transposes::kVector.rows[kRow];
        constexpr int kElement = kUse.unit, kRows = kUse.tile_rows, kCols = kUse.tile_cols, kThreads = kUse.threads;
        if constexpr (kUse.by == kernel_family::vector_stacked) {
            return &run_stacked<kElement, kRows, kCols, kThreads>;
        } else if constexpr (kUse.by == kernel_family::vector_apart) {
            return &run<columns_apart<apart<kCols * kElement>()>, kElement, kRows, kCols, kThreads>;
        } else {
            return &run<column_major, kElement, kRows, kCols, kThreads>;
        }
    }
};

}  // namespace

run_work vector_kernel(int row) { return kernel_of_row<vector_rows>(row, transposes::kVector.rows); }

}  // namespace CORNERTURN_KERNELS
