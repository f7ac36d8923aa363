// Copies between tensors in a GPU's memory that have the same extents and any strides, and permutations of axes, at the
// speed of that memory.
//
//     cornerturn::cuda::copy(source, destination, stream);
//     cornerturn::cuda::permute(nchw, {0, 2, 3, 1}, nhwc, stream);
//
// cornerturn/tensor_view.hpp says how to view tensors. Every call does the following, and nothing else:
//  - Effect: copy: destination(i, j, ...) = source(i, j, ...) for every element, bit for bit. permute(source, axes,
//    destination): axis k of the destination is axis axes[k] of the source, as numpy.transpose has it; an axis below 0
//    counts from the end. Gaps between the destination's elements are never written; of the source, bytes beside
//    elements may be read, and never matter.
//  - Elements have any trivially copyable type, of any size.
//  - Strides: any sign. The source may repeat elements (a stride of 0, or axes that overlap). The destination may not:
//    the axes of its elements, sorted by stride, must each step beyond all that the smaller ones span; of two axes that
//    interleave it is worked out; what is left is `unsupported`.
//  - Aliasing: source and destination share no element. Where both lie within each other's range of addresses, they may
//    interleave as slices of one larger tensor do; what cannot be decided is `unsupported`. A tensor that is copied to
//    itself stays as it is. Nothing is permuted in place.
//  - Order, where, threads, errors and what stays in the L2: as for cornerturn/cuda/transpose.hpp. An empty tensor does
//    nothing; its pointer may be null.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn::cuda {

// A copy of certain extents and strides that has been checked, and the GPU that it is for. Making one costs about as
// much as one call of copy(); calling it costs a launch and the checks of the addresses. A value: copy it, keep it,
// share it between threads.
class CORNERTURN_EXPORT copy_plan {
public:
    // For the current device. Strides count elements; addresses will be multiples of element_alignment, a power of two
    // that divides element_size. Throws invalid_argument, unsupported, and cuda_error where there is no device.
    copy_plan(const cornerturn::detail::axis_list& extents, const cornerturn::detail::axis_list& source_strides,
              const cornerturn::detail::axis_list& destination_strides, std::int64_t element_size,
              std::int64_t element_alignment = 1);

    // Copies from element (0, 0, ...) at `source`, and so on. Throws invalid_argument where the addresses break the
    // alignment, overlap or cannot be reached, and where the stream or the current device is not the plan's.
    void operator()(const void* source, void* destination, cudaStream_t stream) const;

    int device() const { return device_; }

    // Which kernel would run for these addresses, how it is cut, and what that is predicted to cost: one line.
    std::string explain(const void* source, const void* destination) const;

private:
    cornerturn::detail::axis_list extents_, source_strides_, destination_strides_;
    std::int64_t element_size_, element_alignment_;
    int device_;
};

namespace detail {
CORNERTURN_EXPORT void copy(const cornerturn::detail::any_tensor& source,
                            const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                            std::int64_t element_alignment, cudaStream_t stream);
// On the current device, which is the stream's and can reach both: CUDA is not asked.
CORNERTURN_EXPORT void copy_on(int device, const cornerturn::detail::any_tensor& source,
                               const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                               std::int64_t element_alignment, cudaStream_t stream);
CORNERTURN_EXPORT void permute(const cornerturn::detail::any_tensor& source, const cornerturn::detail::axis_list& axes,
                               const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                               std::int64_t element_alignment, cudaStream_t stream);
}  // namespace detail

template <class T>
void copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination,
          cudaStream_t stream) {
    cornerturn::detail::check_elements<T>();
    detail::copy(source.any(), destination.any(), sizeof(T), alignof(T), stream);
}

// `axes` in braces, {0, 2, 3, 1}, or in a container.
template <class T>
void permute(const tensor_view<const std::type_identity_t<T>>& source, const cornerturn::detail::axis_list& axes,
             const tensor_view<T>& destination, cudaStream_t stream) {
    cornerturn::detail::check_elements<T>();
    detail::permute(source.any(), axes, destination.any(), sizeof(T), alignof(T), stream);
}

}  // namespace cornerturn::cuda
