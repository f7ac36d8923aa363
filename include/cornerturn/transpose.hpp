// Transposes of matrices in host memory, on all cores.
//
//     cornerturn::transpose(cornerturn::matrix_view{in, rows, cols}, cornerturn::matrix_view{out, cols, rows});
//
// cornerturn/matrix_view.hpp says how to view parts of matrices, batches, column-major matrices, containers and
// mdspans.
//
// Every call does the following, and nothing else:
//  - Effect: destination(col, row) = source(row, col) for every element, bit for bit (NaN payloads too). An element has
//    any trivially copyable type; 1, 2, 4, 8 and 16 bytes are fastest; any other size is correct and
//    slower. It is done when the call returns, and other threads see it as they see any write of the calling one.
//  - Threads: any number may call at once. The work is shared out by oneTBB: to the cores of the arena that the caller
//    is in, or to as many as host_options says; one thread does it without oneTBB. Each thread keeps up to 2 MiB for
//    the next call.
//  - Aliasing: source and destination share no element, with one exception: the same square matrix (or batch) with the
//    same leading dimension (and stride) as source and destination is transposed in place.
//  - Gaps behind the rows are never written. They may be read, on pages that have elements, and never matter.
//  - Empty matrices and batches do nothing; their pointers may be null.
//  - Errors come before anything is written: invalid_argument names the argument, its value and what it must be.
//    std::bad_alloc, where there is no memory to work in, leaves the destination in part written.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/host_options.hpp"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn {

template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, host_options options = {});

template <class T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination,
               host_options options = {}) {
    transpose<T>(detail::one(source), detail::one(destination), options);
}

// In place: m.rows == m.cols.
template <class T>
void transpose_in_place(matrix_view<T> m, host_options options = {}) {
    transpose<T>(m, m, options);
}
template <class T>
void transpose_in_place(batch_view<T> m, host_options options = {}) {
    transpose<T>(m, m, options);
}

namespace detail {
CORNERTURN_EXPORT void transpose(const any_batch& source, const any_batch& destination, std::int64_t element_size,
                                 std::int64_t element_alignment, host_options options);
}  // namespace detail

template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, host_options options) {
    detail::check_elements<T>();
    detail::transpose(detail::any(source), detail::any(destination), sizeof(T), alignof(T), options);
}

}  // namespace cornerturn
