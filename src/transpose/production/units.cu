// Elements of any size, moved in units: the largest power of two that divides their size and both addresses.
//
// A matrix of elements of n units is read as rows of units. transpose_units stages tiles in shared memory; elements of
// 128 bytes and more are coalesced as they are, and transpose_blocks copies them from where they lie.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kSharedBytes = 32 << 10;

// side x side elements of `units` units, and the rows_back rows before them that the first words of a tile's columns
// may begin in. Warps take rows of the tile, then columns.
template <int kUnit>
__global__ void __launch_bounds__(kThreads)
    transpose_units(matrix_work work, int units, int side, int rows_back, int pitch) {
    CORNERTURN_DYNAMIC_SHARED(word_t<kUnit>, tile);
    constexpr int kWord = kWordBytes<kUnit>, kPerWord = kElementsPerWord<kUnit>;
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * side - rows_back, col = index.col * side, matrix = blockIdx.z;
    const std::int64_t element = std::int64_t{units} * kUnit;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * element;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * element;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);

    const int words_per_row = (side * units + kPerWord - 1) / kPerWord;
    for (int r = warp; r < side + rows_back; r += kWarps) {
        if (row + r < 0 || row + r >= work.rows) continue;
        const byte* const line = source + (row + r) * work.source_ld * element;
        const byte* const end = line + work.cols * element;
        CORNERTURN_UNROLL_BY(4)
        for (int w = lane; w < words_per_row; w += 32) {
            const byte* const from = line + col * element + w * kWord;
            if (from < end) tile[r * pitch + w] = load_word_within<kUnit>(from, line, end);
        }
    }
    __syncthreads();

    const int words_per_col = side * units / kPerWord;
    for (int c = warp; c < side && col + c < work.cols; c += kWarps) {
        byte* const line = destination + (col + c) * work.destination_ld * element;
        const byte* const column = reinterpret_cast<const byte*>(tile) + c * element;
        const std::int64_t first = (row + rows_back) * units;
        const int back = kPerWord > 1 ? past_word(line + first * kUnit) / kUnit : 0;
        for (int w = lane; w < words_per_col; w += 32) {
            const int unit = w * kPerWord - back;
            store_word_within<kUnit>(line, first + unit, work.rows * units, [&](int i) {
                const int in_tile = unit + i + rows_back * units, r = in_tile / units, part = in_tile - r * units;
                return value_at<storage_t<kUnit>>(column + r * pitch * kWord + part * kUnit);
            });
        }
    }
}

template <int kUnit>
void run_units(const matrix_work& work) {
    const int units = work.element_size / kUnit, element = work.element_size;
    constexpr int kWord = kWordBytes<kUnit>;
    const int back = (kElementsPerWord<kUnit> - 1 + units - 1) / units;
    // In multiples of 4, so that the tile's columns are made of whole words.
    int side = 4;
    const auto pitch_of = [&](int n) { return (n * element + kWord - 1) / kWord | 1; };
    const auto bytes_of = [&](int n) { return (n + back) * pitch_of(n) * kWord; };
    while (bytes_of(side + 4) <= kSharedBytes) side += 4;
    for_each_slab<column_major, operation::transpose>(
        work, {side, side, back}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = static_cast<std::size_t>(bytes_of(side));
            launch(shape, transpose_units<kUnit>, part, units, side, back, pitch_of(side));
        });
}

// A block copies tile_rows elements of one column.
template <int kUnit>
__global__ void __launch_bounds__(kThreads) transpose_blocks(matrix_work work, unsigned units, unsigned tile_rows) {
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tile_rows, col = index.col, matrix = blockIdx.z, n = units;
    using unit = storage_t<kUnit>;
    const unit* const source =
        static_cast<const unit*>(work.source) + (matrix * work.source_stride + row * work.source_ld + col) * n;
    unit* const destination =
        static_cast<unit*>(work.destination) + (matrix * work.destination_stride + col * work.destination_ld + row) * n;
    const std::int64_t rows = work.rows - row < tile_rows ? work.rows - row : tile_rows;
    CORNERTURN_UNROLL_BY(4)
    for (unsigned i = threadIdx.x; i < rows * units; i += kThreads) {
        const unsigned r = i / units;
        destination[i] = source[(r * work.source_ld - r) * n + i];
    }
}

template <int kUnit>
void run_blocks(const matrix_work& work) {
    const auto units = static_cast<unsigned>(work.element_size / kUnit);
    const unsigned tile_rows = units < 4 * kThreads ? 4 * kThreads / units : 1;
    for_each_slab<column_major, operation::transpose>(
        work, {tile_rows, 1}, dim3(kThreads), [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, transpose_blocks<kUnit>, part, units, tile_rows);
        });
}

template <int kUnit>
constexpr production_kernel units() {
    return {{path::units, kUnit, 0, 0, kThreads}, &run_units<kUnit>};
}
template <int kUnit>
constexpr production_kernel blocks() {
    return {{path::blocks, kUnit, 0, 0, kThreads}, &run_blocks<kUnit>};
}

constexpr production_kernel kKernels[] = {
    units<1>(),  units<2>(),  units<4>(),  units<8>(),  units<16>(),
    blocks<1>(), blocks<2>(), blocks<4>(), blocks<8>(), blocks<16>(),
};

}  // namespace

production_kernels unit_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
