// What a rung's file needs besides its kernel: registration, and launches over a whole matrix.
#pragma once

#include <type_traits>

#include "cornerturn/matrix_view.hpp"
#include "device/device.hpp"
#include "device/registry.hpp"
#include "device/slabs.hpp"

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

template <class T>
using matrix_kernel = void (*)(matrix_view<const T> source, matrix_view<T> destination);

template <class Order = row_major, class T>
void launch_transpose(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<Order, operation::transpose>(
        work, tile, block, [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, kernel,
                   matrix_view<const T>{static_cast<const T*>(part.source), part.rows, part.cols, part.source_ld},
                   matrix_view<T>{static_cast<T*>(part.destination), part.cols, part.rows, part.destination_ld});
        });
}

template <class T>
void launch_copy(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<row_major, operation::copy>(
        work, tile, block, [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, kernel,
                   matrix_view<const T>{static_cast<const T*>(part.source), part.rows, part.cols, part.source_ld},
                   matrix_view<T>{static_cast<T*>(part.destination), part.rows, part.cols, part.destination_ld});
        });
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
