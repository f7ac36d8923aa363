// Cuts work into slabs that fit CUDA's limits on the grid: one launch for each slab.
#pragma once

#include "core/matrix_work.hpp"
#include "device/device.hpp"
#include "device/tiles.hpp"

namespace CORNERTURN_KERNELS {

// Where a part of the source goes: to the same rows and columns, or with rows and columns swapped.
enum class slab_order { copied, transposed };

// Covers the matrices with tiles of the source, one for each block. Calls start(shape, part) for each slab, the part of
// the work that fits in one grid. A slab is itself a matrix, so the kernel needs no special case. blockIdx.z counts the
// matrices of a batch. Empty work: no launch.
template <class Order, slab_order kOrder, class Work, class Start>
void for_each_slab(const Work& work, tile_extent tile, dim3 block, Start start) {
    if (work.rows == 0 || work.cols == 0) return;
    constexpr bool kTransposes = kOrder == slab_order::transposed;
    const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
    const std::int64_t size = work.element_size, source_size = source_size_of(work);
    const std::int64_t slab_rows = Order::kMaxRows * tile.rows - tile.back, slab_cols = Order::kMaxCols * tile.cols;
    for (std::int64_t first = 0; first < work.count; first += kMaxGridZ) {
        for (std::int64_t row = 0; row < work.rows; row += slab_rows) {
            for (std::int64_t col = 0; col < work.cols; col += slab_cols) {
                Work part = work;
                leave_out(part, first);
                part.rows = least(work.rows - row, slab_rows);
                part.cols = least(work.cols - col, slab_cols);
                part.count = least(work.count - first, kMaxGridZ);
                part.source =
                    static_cast<const unsigned char*>(part.source) + (row * work.source_ld + col) * source_size;
                part.destination =
                    static_cast<unsigned char*>(part.destination) +
                    (kTransposes ? col * work.destination_ld + row : row * work.destination_ld + col) * size;
                const emulator::operand source{part.source, tile.rows * work.source_ld * source_size,
                                               tile.cols * source_size};
                const emulator::operand destination{part.destination,
                                                    tile.rows * (kTransposes ? size : work.destination_ld * size),
                                                    tile.cols * (kTransposes ? work.destination_ld * size : size)};
                const emulator::outer_axis matrices{part.count,
                                                    {work.source_stride * source_size, work.destination_stride * size}};
                const emulator::tiling tiles{part.rows,
                                             part.cols,
                                             tile.rows,
                                             tile.cols,
                                             2,
                                             {source, destination},
                                             [](emulator::extent3 b, emulator::extent3 g) {
                                                 tile_index t = Order::tile_of({b.x, b.y, b.z}, {g.x, g.y, g.z});
                                                 t.outer = b.z;
                                                 return t;
                                             },
                                             [](tile_index t, emulator::extent3 g) {
                                                 const uint3 b = Order::block_of(t, {g.x, g.y, g.z});
                                                 return emulator::extent3{b.x, b.y, static_cast<unsigned>(t.outer)};
                                             },
                                             1,
                                             &matrices};
                dim3 grid = Order::grid((part.rows + tile.back + tile.rows - 1) / tile.rows,
                                        (part.cols + tile.cols - 1) / tile.cols);
                grid.z = static_cast<unsigned>(part.count);
                // The emulator's classes of blocks need tiles that do not overlap, and batches of one axis.
                const bool classes = tile.back == 0 && is_even(work);
                start(launch_shape{grid, block, 0, classes ? &tiles : nullptr}, part);
            }
        }
    }
}

// Calls start(shape, part) for as many matrices at a time as blockIdx.z can count. blockIdx.x counts `blocks` for each.
template <class Work, class Start>
void for_each_grid(const Work& work, std::int64_t blocks, dim3 block, Start start) {
    for (std::int64_t first = 0; first < work.count; first += kMaxGridZ) {
        Work part = work;
        leave_out(part, first);
        part.count = work.count - first < kMaxGridZ ? work.count - first : kMaxGridZ;
        start(launch_shape{dim3(static_cast<unsigned>(blocks), 1, static_cast<unsigned>(part.count)), block}, part);
    }
}

// Whether the address and the distances between rows, and in a batch between matrices, are multiples of `bytes`.
// Distances count elements.
inline bool aligned_to(int bytes, const void* address, std::int64_t ld, std::int64_t stride, std::int64_t count,
                       std::int64_t element_size) {
    const std::int64_t elements = ld | (count > 1 ? stride : 0);
    return (reinterpret_cast<std::uintptr_t>(address) | static_cast<std::uintptr_t>(elements * element_size)) %
               static_cast<unsigned>(bytes) ==
           0;
}
inline bool aligned_to(int bytes, const void* address, std::int64_t ld, std::int64_t stride, const matrix_work& work) {
    return aligned_to(bytes, address, ld, stride, work.count, work.element_size);
}

}  // namespace CORNERTURN_KERNELS
