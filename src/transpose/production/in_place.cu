// Square matrices in place: a block takes two tiles that mirror each other, reads both and writes each where the other
// was. Blocks above the diagonal have nothing to do.
#include "transpose/production/kernels.hpp"
#include "transpose/production/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// The tile below the diagonal, rows x cols of it, and the one above; on the diagonal they are one.
template <bool kWhole, class Tile>
__device__ __forceinline__ void exchange(byte* below, byte* above, std::int64_t ld, std::int64_t rows,
                                         std::int64_t cols, uint4* tiles) {
    uint4* const other = tiles + Tile::kVectors;
    const bool mirrored = below != above;
    Tile::template load<kWhole>(below, ld, rows, cols, tiles);
    if (mirrored) Tile::template load<kWhole>(above, ld, cols, rows, other);
    __syncthreads();
    Tile::template store<kWhole>(above, ld, rows, cols, tiles);
    if (mirrored) Tile::template store<kWhole>(below, ld, cols, rows, other);
}

template <int kElement, int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads) transpose_vector_in_place(matrix_work work) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tiles);
    using tile = vector_tile<kElement, kTile, kTile, kThreads>;
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    if (index.row < index.col) return;
    const std::int64_t row = index.row * kTile, col = index.col * kTile, ld = work.destination_ld;
    const std::int64_t rows = work.rows - row, cols = work.cols - col, matrix = blockIdx.z;
    byte* const data = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    byte* const below = data + (row * ld + col) * kElement;
    byte* const above = data + (col * ld + row) * kElement;
    if (rows >= kTile && cols >= kTile) {
        exchange<true, tile>(below, above, ld, rows, cols, tiles);
    } else {
        exchange<false, tile>(below, above, ld, rows, cols, tiles);
    }
}

template <int kElement, int kTile, int kThreads>
void run_vector(const matrix_work& work) {
    for_each_slab<column_major, operation::transpose>(
        work, {kTile, kTile}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = 2 * vector_tile<kElement, kTile, kTile, kThreads>::kBytes;
            shape.tiles = nullptr;  // a block touches two tiles
            launch(shape, transpose_vector_in_place<kElement, kTile, kThreads>, part);
        });
}

constexpr int kSide = 32, kThreadRows = 8;

// Elements of `units` units: one unit of each after the other.
template <class Unit>
__global__ void __launch_bounds__(kSide* kThreadRows) transpose_units_in_place(matrix_work work, int units) {
    __shared__ Unit tiles[2][kSide][kSide + 1];
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    if (index.row < index.col) return;
    const std::int64_t row = index.row * kSide, col = index.col * kSide, ld = work.destination_ld, n = work.rows;
    Unit* const data =
        static_cast<Unit*>(work.destination) + static_cast<std::int64_t>(blockIdx.z) * work.destination_stride * units;
    const int x = static_cast<int>(threadIdx.x), y0 = static_cast<int>(threadIdx.y);
    const auto unit_at = [&](std::int64_t r, std::int64_t c, int unit) -> Unit& {
        return data[(r * ld + c) * units + unit];
    };
    for (int unit = 0; unit < units; ++unit) {
        CORNERTURN_UNROLL
        for (int y = y0; y < kSide; y += kThreadRows) {
            if (row + y < n && col + x < n) tiles[0][y][x] = unit_at(row + y, col + x, unit);
            if (col + y < n && row + x < n) tiles[1][y][x] = unit_at(col + y, row + x, unit);
        }
        __syncthreads();
        CORNERTURN_UNROLL
        for (int y = y0; y < kSide; y += kThreadRows) {
            if (col + y < n && row + x < n) unit_at(col + y, row + x, unit) = tiles[0][x][y];
            if (index.row != index.col && row + y < n && col + x < n) unit_at(row + y, col + x, unit) = tiles[1][x][y];
        }
        __syncthreads();
    }
}

template <int kUnit>
void run_units(const matrix_work& work) {
    for_each_slab<column_major, operation::transpose>(
        work, {kSide, kSide}, dim3(kSide, kThreadRows), [&](launch_shape shape, const matrix_work& part) {
            shape.tiles = nullptr;
            launch(shape, transpose_units_in_place<storage_t<kUnit>>, part, work.element_size / kUnit);
        });
}

template <int kElement, int kTile, int kThreads>
constexpr production_kernel vectors() {
    return {{path::vector_in_place, kElement, kTile, kTile, kThreads}, &run_vector<kElement, kTile, kThreads>};
}
template <int kUnit>
constexpr production_kernel units() {
    return {{path::units_in_place, kUnit, kSide, kSide, kSide * kThreadRows}, &run_units<kUnit>};
}

constexpr production_kernel kKernels[] = {
    vectors<1, 128, 256>(),
    vectors<2, 64, 256>(),
    vectors<4, 64, 512>(),
    vectors<8, 32, 256>(),
    vectors<16, 16, 128>(),
    units<1>(),
    units<2>(),
    units<4>(),
    units<8>(),
    units<16>(),
};

}  // namespace

production_kernels in_place_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
