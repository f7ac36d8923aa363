// Copies between tensors in host memory that have the same extents and any strides, and permutations of axes, on all
// cores.
//
//     cornerturn::copy(source, destination);
//     cornerturn::permute(nchw, {0, 2, 3, 1}, nhwc);
//
// cornerturn/tensor_view.hpp says how to view tensors. Every call does the following, and nothing else:
//  - Effect: copy: destination(i, j, ...) = source(i, j, ...) for every element, bit for bit. permute(source, axes,
//    destination): axis k of the destination is axis axes[k] of the source, as numpy.transpose has it; an axis below 0
//    counts from the end. Gaps between the destination's elements are never written; of the source, bytes beside
//    elements may be read, on pages that have elements, and never matter. It is done when the call returns, and other
//    threads see it as they see any write of the calling one.
//  - Elements have any trivially copyable type, of any size.
//  - Strides: any sign. The source may repeat elements (a stride of 0, or axes that overlap). The destination may not:
//    the axes of its elements, sorted by stride, must each step beyond all that the smaller ones span; of two axes that
//    interleave it is worked out; what is left is `unsupported`.
//  - Aliasing: source and destination share no element. Where both lie within each other's range of addresses, they may
//    interleave as slices of one larger tensor do; what cannot be decided is `unsupported`. A tensor that is copied to
//    itself stays as it is. Nothing is permuted in place.
//  - Threads: any number may call at once. The work is shared out by oneTBB: to the cores of the arena that the caller
//    is in, or to as many as host_options says; one thread does it without oneTBB. Each thread keeps up to 2 MiB for
//    the next call.
//  - An empty tensor does nothing; its pointer may be null.
//  - Errors come before anything is written: invalid_argument names the argument, its value and what it must be.
//    std::bad_alloc, where there is no memory to work in, may leave the destination in part written.
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

template <class T>
void copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination,
          host_options options = {}) {
    detail::check_elements<T>();
    detail::copy(source.any(), destination.any(), sizeof(T), alignof(T), options);
}

// `axes` in braces, {0, 2, 3, 1}, or in a container.
template <class T>
void permute(const tensor_view<const std::type_identity_t<T>>& source, const detail::axis_list& axes,
             const tensor_view<T>& destination, host_options options = {}) {
    detail::check_elements<T>();
    detail::permute(source.any(), axes, destination.any(), sizeof(T), alignof(T), options);
}

// How copy() would do it, and why: one line. It reads and writes no element. Throws what copy() would.
template <class T>
std::string explain_copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination) {
    detail::check_elements<T>();
    return detail::explain_copy(source.any(), destination.any(), sizeof(T), alignof(T));
}

}  // namespace cornerturn
