// What a rung's file needs besides its kernel: registration, and launches cut into slabs that fit CUDA's grid.
#pragma once

#include <type_traits>

#include "cornerturn/matrix_view.hpp"
#include "device/device.hpp"
#include "device/registry.hpp"
#include "device/tiles.hpp"

namespace CORNERTURN_KERNELS {

// The storage types that elements are moved as, by size.
using element1 = std::uint8_t;
using element2 = std::uint16_t;
using element4 = std::uint32_t;
using element8 = std::uint64_t;
using element16 = uint4;

// Calls Rung::run<T>(work) with the storage type of work.element_size.
template <class Rung>
void run_any_element_size(const matrix_work& work) {
    switch (work.element_size) {
#ifndef CORNERTURN_ONLY_ELEMENT4
        case 1: return Rung::template run<element1>(work);
        case 2: return Rung::template run<element2>(work);
        case 8: return Rung::template run<element8>(work);
        case 16: return Rung::template run<element16>(work);
#endif
        case 4: return Rung::template run<element4>(work);
        default: refuse_element_size(work.element_size);
    }
}

// A variant for elements of 1, 2, 4, 8 and 16 bytes. Rung has `template <class T> static void run(const matrix_work&)`.
template <class Rung>
constexpr variant scalar(const char* name, const char* origin) {
    return {name, origin, 1 | 2 | 4 | 8 | 16, &run_any_element_size<Rung>};
}

// A variant for elements of the size of T alone.
template <class Rung, class T>
constexpr variant only(const char* name, const char* origin) {
    return {name, origin, sizeof(T), &Rung::template run<T>};
}

struct tile_extent {
    std::int64_t rows, cols;
};

// Covers the matrix with tiles of the source, one a block, and calls start(shape, source, destination) with the part
// of the matrix that one grid can reach: a slab is itself a matrix, so the kernel need not know. Empty: no launch.
template <class Order, operation kOperation, class T, class Start>
void for_each_slab(const matrix_work& work, tile_extent tile, dim3 block, Start start) {
    if (work.rows == 0 || work.cols == 0) return;
    constexpr bool kTransposes = kOperation == operation::transpose;
    const std::int64_t slab_rows = Order::kMaxRows * tile.rows, slab_cols = Order::kMaxCols * tile.cols;
    for (std::int64_t row = 0; row < work.rows; row += slab_rows) {
        for (std::int64_t col = 0; col < work.cols; col += slab_cols) {
            const std::int64_t rows = work.rows - row < slab_rows ? work.rows - row : slab_rows;
            const std::int64_t cols = work.cols - col < slab_cols ? work.cols - col : slab_cols;
            const T* const from = static_cast<const T*>(work.source) + row * work.source_ld + col;
            T* const to = static_cast<T*>(work.destination) +
                          (kTransposes ? col * work.destination_ld + row : row * work.destination_ld + col);
            const std::int64_t size = sizeof(T);
            const emulator::operand source{from, tile.rows * work.source_ld * size, tile.cols * size};
            const emulator::operand destination{to, tile.rows * (kTransposes ? size : work.destination_ld * size),
                                                tile.cols * (kTransposes ? work.destination_ld * size : size)};
            const emulator::tiling tiles{rows,
                                         cols,
                                         tile.rows,
                                         tile.cols,
                                         2,
                                         {source, destination},
                                         [](emulator::extent3 b, emulator::extent3 g) {
                                             return Order::tile_of({b.x, b.y, b.z}, {g.x, g.y, g.z});
                                         },
                                         [](tile_index t, emulator::extent3 g) {
                                             const uint3 b = Order::block_of(t, {g.x, g.y, g.z});
                                             return emulator::extent3{b.x, b.y, b.z};
                                         }};
            const dim3 grid = Order::grid((rows + tile.rows - 1) / tile.rows, (cols + tile.cols - 1) / tile.cols);
            start(launch_shape{grid, block, 0, &tiles}, matrix_view<const T>{from, rows, cols, work.source_ld},
                  kTransposes ? matrix_view<T>{to, cols, rows, work.destination_ld}
                              : matrix_view<T>{to, rows, cols, work.destination_ld});
        }
    }
}

template <class T>
using matrix_kernel = void (*)(matrix_view<const T> source, matrix_view<T> destination);

template <class Order = row_major, class T>
void launch_transpose(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<Order, operation::transpose, T>(
        work, tile, block,
        [&](const launch_shape& shape, auto source, auto destination) { launch(shape, kernel, source, destination); });
}

template <class T>
void launch_copy(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<row_major, operation::copy, T>(
        work, tile, block,
        [&](const launch_shape& shape, auto source, auto destination) { launch(shape, kernel, source, destination); });
}

#if defined(CORNERTURN_EMULATED)
inline constexpr backend kBuiltFor = backend::emulator;
#else
inline constexpr backend kBuiltFor = backend::cuda;
#endif

// Appended to the ids of a file's kernels: tests build altered copies of rungs under names of their own.
#ifndef CORNERTURN_ID_SUFFIX
#define CORNERTURN_ID_SUFFIX ""
#endif

struct registration {
    template <int kCount>
    registration(const rung_notes& notes, operation does, backend built_for, const char* file, const char* id_suffix,
                 const variant (&variants)[kCount]) {
        register_rung(notes, does, built_for, file, id_suffix, variants, kCount);
    }
};

}  // namespace CORNERTURN_KERNELS

// CORNERTURN_RUNG(notes, operation, variants...): once a file, behind the kernel.
#define CORNERTURN_RUNG(notes, does, ...)                                                                \
    namespace {                                                                                          \
    constexpr variant kVariants[] = {__VA_ARGS__};                                                       \
    const registration kRegistration{notes, does, kBuiltFor, __FILE__, CORNERTURN_ID_SUFFIX, kVariants}; \
    }
