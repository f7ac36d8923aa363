// Elements of any size, moved in units. A unit is the largest power of two that divides their size and both addresses.
//
// Tiles are staged in shared memory. They are cut at the launch, for the element and the matrix.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/unit_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kMostThreads = 512;

template <int kUnit, int kUnits, bool kShifted>
__global__ void CORNERTURN_RESIDENT(kMostThreads, (unit_tile<kUnit, kUnits, kShifted>::kResident))
    transpose_units(unit_work work, unit_cut cut) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    CORNERTURN_DYNAMIC_SHARED(byte, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * cut.moved, col = index.col * cut.cols;
    const place_of_matrix matrix(work.batch, work.from_stride, work.to_stride);
    tiles::load(work, cut, work.source + matrix.source, row - cut.back, static_cast<int>(col) * cut.element, tile,
                threadIdx.x);
    __syncthreads();
    tiles::store(work, cut, work.destination + matrix.destination + col * work.to_pitch + row * cut.element, row,
                 work.cols - col, tile);
}

// Whether every row of the destination begins at a sector.
bool has_whole_sectors(const moves::matrices_work& work) {
    return aligned_to(kSectorBytes, work.destination, work.destination_ld, work.destination_stride, work);
}
// Whether every row of the source begins at a word.
bool has_whole_words(const moves::matrices_work& work) {
    return aligned_to(4, work.source, work.source_ld, work.source_stride, work);
}

template <int kUnit, int kUnits, bool kShifted>
void run_tiles(const moves::matrices_work& work, const gpu& on) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    const unit_cut cut = moves::cut_into_tiles(work, on, has_whole_sectors(work), tiles::kShape);
    for_each_slab<column_major, slab_order::transposed>(
        work, {cut.moved, cut.cols}, dim3(cut.threads), [&](launch_shape shape, const moves::matrices_work& part) {
            shape.dynamic_shared_bytes = static_cast<std::size_t>(cut.bytes);
            shape.tiles = nullptr;  // what a tile reads depends on the memory around it
            launch(shape, transpose_units<kUnit, kUnits, kShifted>, tiles::in_bytes(part, cut), cut);
        });
}

template <int kUnit>
void run_units(const moves::matrices_work& work, const gpu& on) {
    if constexpr (kUnit < 4) {
        switch (work.element_size / kUnit) {
            case 3:
                return has_whole_words(work) ? run_tiles<kUnit, 3, false>(work, on)
                                             : run_tiles<kUnit, 3, true>(work, on);
            case 5: return run_tiles<kUnit, 5, true>(work, on);
            case 7: return run_tiles<kUnit, 7, true>(work, on);
            default: return run_tiles<kUnit, 0, true>(work, on);
        }
    } else {
        return run_tiles<kUnit, 0, false>(work, on);
    }
}

struct element_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_units<moves::kElements.rows[kRow].unit>;
    }
};

}  // namespace

run_work elements_kernel(int row) { return kernel_of_row<element_rows>(row, moves::kElements.rows); }

}  // namespace CORNERTURN_KERNELS
