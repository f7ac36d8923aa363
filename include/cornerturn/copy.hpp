/// @file
/// Copies between tensors in host memory that have the same extents and any strides, and permutations of axes, on all
/// cores.
///
/// @code
/// cornerturn::copy(source, destination);
/// cornerturn::permute(nchw, {0, 2, 3, 1}, nhwc);
/// @endcode
///
/// cornerturn/tensor_view.hpp says how to view tensors. These rules hold for every call:
/// - **Effect** of copy(): destination(i, j, ...) = source(i, j, ...) for every element, bit for bit.
/// - **Effect** of permute(source, axes, destination): axis k of the destination is axis axes[k] of the source, as in
///   numpy.transpose. A negative axis counts from the end.
/// - **Completion**: the work is done when the call returns. Other threads see it as they see any write of the calling
///   thread.
/// - **Gaps** between the elements of the destination are never written. Bytes beside the elements of the source may be
///   read, on pages that have elements, and their values do not matter.
/// - **Elements** have any trivially copyable type, of any size. All their bytes are moved, padding too.
/// - **Strides** may have any sign. The source may repeat elements: a stride may be 0, and axes may overlap.
/// - **Destination**: no two elements coincide, or the call throws invalid_argument. They do not coincide if, with the
///   axes sorted by stride, each stride is larger than the span of all axes with smaller strides. The library also
///   works it out if just two axes interleave. If it cannot tell, the call throws `unsupported`.
/// - **Aliasing**: source and destination share no element. They may interleave as slices of one larger tensor do. If
///   the library cannot tell whether they share an element, the call throws `unsupported`. A tensor that is copied to
///   itself stays as it is. Nothing is permuted in place.
/// - **Alignment**: an address is a multiple of alignof(T).
/// - **Threads**: any number may call at once. oneTBB shares the work out: to the cores of the arena that the caller is
///   in, or to as many threads as host_options says. With one thread, oneTBB is not used. Each thread keeps up to 2 MiB
///   for the next call. oneTBB ends the process if the system refuses it a thread. So the first call that shares work
///   counts the threads that the system gives. If they are too few, it limits oneTBB to that number, for the whole
///   process.
/// - **Empty** tensors: the call does nothing, and the pointer may be null.
/// - **Errors** are found before anything is written. An invalid_argument names the argument, its value and what it
///   must be. There is one exception: after a `std::bad_alloc` part of the destination may have been written.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/host_options.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

namespace detail {
CORNERTURN_EXPORT void copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                            std::int64_t element_alignment, host_options options);
CORNERTURN_EXPORT void permute(const any_tensor& source, const axis_list& axes, const any_tensor& destination,
                               std::int64_t element_size, std::int64_t element_alignment, host_options options);
CORNERTURN_EXPORT std::string explain_copy(const any_tensor& source, const any_tensor& destination,
                                           std::int64_t element_size, std::int64_t element_alignment);
}  // namespace detail

/// Copies a tensor.
/// @param source The source.
/// @param destination The destination, of the same extents. T is deduced from it.
/// @param options How many threads to use.
/// @throws invalid_argument if extents or strides do not fit, an address is wrong, or source and destination overlap.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws std::bad_alloc if working memory runs out.
template <class T>
void copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination,
          host_options options = {}) {
    detail::check_elements<T>();
    detail::copy(source.any(), destination.any(), sizeof(T), alignof(T), options);
}

/// Permutes the axes of a tensor.
/// @param source The source.
/// @param axes The permutation: one number for each axis, in braces, {0, 2, 3, 1}, or in a container.
/// @param destination The destination. The extent of axis k is that of axis axes[k] of the source. T is deduced
/// from it.
/// @param options How many threads to use.
/// @throws invalid_argument if `axes` is no permutation, extents or strides do not fit, an address is wrong, or source
/// and destination overlap.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws std::bad_alloc if working memory runs out.
template <class T>
void permute(const tensor_view<const std::type_identity_t<T>>& source, const detail::axis_list& axes,
             const tensor_view<T>& destination, host_options options = {}) {
    detail::check_elements<T>();
    detail::permute(source.any(), axes, destination.any(), sizeof(T), alignof(T), options);
}

/// Says in one line how copy() would copy on all cores, and why. It reads and writes no element.
/// @param source The source.
/// @param destination The destination, of the same extents. T is deduced from it.
/// @return The line.
/// @throws invalid_argument if copy() would.
/// @throws unsupported if copy() would.
template <class T>
std::string explain_copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination) {
    detail::check_elements<T>();
    return detail::explain_copy(source.any(), destination.any(), sizeof(T), alignof(T));
}

}  // namespace cornerturn
