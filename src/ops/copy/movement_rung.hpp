// What the file of a rung that moves elements needs besides its kernel: its variants, and launches over a matrix.
#pragma once

#include "cornerturn/matrix_view.hpp"
#include "device/rung.hpp"
#include "device/slabs.hpp"
#include "ops/copy/kernel_traits.hpp"

namespace CORNERTURN_KERNELS {

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
        default: decline_element_size(work.element_size);
    }
}

// A variant for elements of 1, 2, 4, 8 and 16 bytes. Rung has `template <class T> static void run(const matrix_work&)`.
template <class Rung>
constexpr variant<matrix_work> scalar(const char* name, const char* origin) {
    return {{name, origin, 1 | 2 | 4 | 8 | 16}, &run_any_element_size<Rung>};
}

// A variant only for elements of the size of T.
template <class Rung, class T>
constexpr variant<matrix_work> only(const char* name, const char* origin) {
    return {{name, origin, sizeof(T)}, &Rung::template run<T>};
}

// A variant that copies, whatever its operation does.
constexpr variant<matrix_work> copying(variant<matrix_work> v) {
    v.traits.copies = true;
    return v;
}

template <class T>
using matrix_kernel = void (*)(matrix_view<const T> source, matrix_view<T> destination);

// One block for each tile of the source. kOrder says where the tile goes in the destination.
template <slab_order kOrder, class Order, class T>
void launch_tiles(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<Order, kOrder>(work, tile, block, [&](const launch_shape& shape, const matrix_work& part) {
        constexpr bool kCopied = kOrder == slab_order::copied;
        launch(shape, kernel,
               matrix_view<const T>{static_cast<const T*>(part.source), part.rows, part.cols, part.source_ld},
               matrix_view<T>{static_cast<T*>(part.destination), kCopied ? part.rows : part.cols,
                              kCopied ? part.cols : part.rows, part.destination_ld});
    });
}

// Destination and source have the same shape.
template <class Order = row_major, class T>
void launch_copy(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    launch_tiles<slab_order::copied, Order>(kernel, work, tile, block);
}

}  // namespace CORNERTURN_KERNELS
