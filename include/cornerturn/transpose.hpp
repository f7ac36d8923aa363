/// @file
/// Transposes of matrices in host memory, on all cores.
///
/// @code
/// cornerturn::transpose(cornerturn::matrix_view{in, rows, cols}, cornerturn::matrix_view{out, cols, rows});
/// @endcode
///
/// cornerturn/matrix_view.hpp says how to view parts of matrices, batches, column-major matrices, containers and
/// mdspans.
///
/// These rules hold for every call:
/// - **Effect**: destination(col, row) = source(row, col) for every element, bit for bit (NaN payloads and padding
///   too). The work is done when the call returns. Other threads see it as they see any write of the calling thread.
/// - **Elements** have any trivially copyable type. Those of 1, 2, 4, 8 and 16 bytes are fastest. Any other size is
///   correct and slower.
/// - **Threads**: any number may call at once. oneTBB shares the work out: to the cores of the arena that the caller is
///   in, or to as many threads as host_options says. With one thread, oneTBB is not used. Each thread keeps up to 2 MiB
///   for the next call. oneTBB ends the process if the system refuses it a thread. So the first call that shares work
///   counts the threads that the system gives. If they are too few, it limits oneTBB to that number, for the whole
///   process.
/// - **Aliasing**: source and destination share no element. There is one exception: a square matrix (or batch) is
///   transposed in place if source and destination have the same address and leading dimension (and stride).
/// - **Padding** after the rows is never written. It may be read, on pages that have elements, and its values do not
///   matter.
/// - **Alignment**: an address is a multiple of alignof(T).
/// - **Empty** matrices and batches: the call does nothing, and the pointers may be null.
/// - **Errors** are found before anything is written. An invalid_argument names the argument, its value and what it
///   must be. There is one exception: after a `std::bad_alloc` part of the destination may have been written.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/host_options.hpp"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn {

/// Transposes a batch of matrices.
/// @param source The source. All its matrices are rows x cols.
/// @param destination The destination: as many matrices, each cols x rows. T is deduced from it.
/// @param options How many threads to use.
/// @throws invalid_argument if the shapes do not fit, an address is wrong, or source and destination overlap.
/// @throws std::bad_alloc if working memory runs out.
template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, host_options options = {});

/// Transposes a matrix.
/// @param source The source, rows x cols.
/// @param destination The destination, cols x rows. T is deduced from it.
/// @param options How many threads to use.
/// @throws invalid_argument if the shapes do not fit, an address is wrong, or source and destination overlap.
/// @throws std::bad_alloc if working memory runs out.
template <class T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination,
               host_options options = {}) {
    transpose<T>(detail::one(source), detail::one(destination), options);
}

/// Transposes a square matrix in place.
/// @param m The matrix: m.rows == m.cols.
/// @param options How many threads to use.
/// @throws invalid_argument if the matrix is not square, or its leading dimension or address is wrong.
/// @throws std::bad_alloc if working memory runs out.
template <class T>
void transpose_in_place(matrix_view<T> m, host_options options = {}) {
    transpose<T>(m, m, options);
}
/// Transposes each matrix of a batch in place.
/// @param m The batch: m.rows == m.cols, and its matrices share no element.
/// @param options How many threads to use.
/// @throws invalid_argument if the matrices are not square, or the layout or the address is wrong.
/// @throws std::bad_alloc if working memory runs out.
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
