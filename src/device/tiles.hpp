// How tiles of a matrix are assigned to blocks. A kernel asks tile_of() for its tile. The emulator asks the same
// function, and its inverse, to find out which blocks are alike.
#pragma once

#include "device/device.hpp"

namespace CORNERTURN_KERNELS {

using emulator::tile_index;

inline constexpr std::int64_t kMaxGridX = 0x7fffffff, kMaxGridY = 65535;

struct tile_extent {
    std::int64_t rows, cols;
    // A tile may begin and end up to this many rows earlier. The grid then covers as many rows more.
    std::int64_t back = 0;
};

// Along the rows of tiles: blockIdx.x counts tile columns, blockIdx.y tile rows.
struct row_major {
    static constexpr std::int64_t kMaxRows = kMaxGridY, kMaxCols = kMaxGridX;
    static dim3 grid(std::int64_t rows, std::int64_t cols) {
        return dim3(static_cast<unsigned>(cols), static_cast<unsigned>(rows));
    }
    __host__ __device__ static tile_index tile_of(uint3 block, dim3) { return {block.y, block.x}; }
    static uint3 block_of(tile_index tile, dim3) {
        return {static_cast<unsigned>(tile.col), static_cast<unsigned>(tile.row), 0};
    }
};

// Down the columns of tiles: blockIdx.x counts tile rows, blockIdx.y tile columns.
struct column_major {
    static constexpr std::int64_t kMaxRows = kMaxGridX, kMaxCols = kMaxGridY;
    static dim3 grid(std::int64_t rows, std::int64_t cols) {
        return dim3(static_cast<unsigned>(rows), static_cast<unsigned>(cols));
    }
    __host__ __device__ static tile_index tile_of(uint3 block, dim3) { return {block.x, block.y}; }
    static uint3 block_of(tile_index tile, dim3) {
        return {static_cast<unsigned>(tile.row), static_cast<unsigned>(tile.col), 0};
    }
};

// Like column_major, but after each column of tiles comes the one kApart tiles further on, and only then its neighbour.
// Blocks that run together then read at two positions in the rows.
template <unsigned kApart>
struct columns_apart {
    static constexpr std::int64_t kMaxRows = column_major::kMaxRows, kMaxCols = column_major::kMaxCols;
    static constexpr unsigned kPeriod = 2 * kApart;
    static dim3 grid(std::int64_t rows, std::int64_t cols) { return column_major::grid(rows, cols); }
    // The columns that have a partner. The others follow one by one.
    __host__ __device__ static unsigned paired(dim3 grid) { return grid.y - grid.y % kPeriod; }
    __host__ __device__ static tile_index tile_of(uint3 block, dim3 grid) {
        if (block.y >= paired(grid)) return {block.x, block.y};
        const unsigned in_period = block.y % kPeriod;
        return {block.x, block.y - in_period + in_period / 2 + in_period % 2 * kApart};
    }
    static uint3 block_of(tile_index tile, dim3 grid) {
        const auto row = static_cast<unsigned>(tile.row), col = static_cast<unsigned>(tile.col);
        if (col >= paired(grid)) return {row, col, 0};
        const unsigned in_period = col % kPeriod;
        return {row, col - in_period + in_period % kApart * 2 + in_period / kApart, 0};
    }
};

// Like row_major, but each row of tiles begins one tile further right than the one above, and wraps around. Blocks that
// run together then write to different columns of the destination.
struct diagonal {
    static constexpr std::int64_t kMaxRows = kMaxGridY, kMaxCols = kMaxGridX;
    static dim3 grid(std::int64_t rows, std::int64_t cols) { return row_major::grid(rows, cols); }
    __host__ __device__ static tile_index tile_of(uint3 block, dim3 grid) {
        return {block.y, (block.x + block.y) % grid.x};
    }
    static uint3 block_of(tile_index tile, dim3 grid) {
        const auto row = static_cast<unsigned>(tile.row), col = static_cast<unsigned>(tile.col);
        return {(col + grid.x - row % grid.x) % grid.x, row, 0};
    }
};

}  // namespace CORNERTURN_KERNELS
