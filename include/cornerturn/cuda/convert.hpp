/// @file
/// Conversions between tensors in the memory of a GPU: to another element type, scaled, in another order of axes, in
/// one pass.
///
/// @code
/// cornerturn::cuda::convert(images, {0, 3, 1, 2}, planes, {}, stream);                // u8 NHWC to f32 NCHW
/// cornerturn::cuda::convert(images, {0, 3, 1, 2}, planes, {.scale = 1 / 255.0}, stream);
/// @endcode
///
/// cornerturn/convert.hpp says what a conversion does. The rules for streams, memory, threads and errors are those of
/// cornerturn/cuda/transpose.hpp. Scales and biases in memory are in memory that the device can reach. The call does
/// not wait for them: the kernel reads them, in the order of the stream.
#pragma once

#include <driver_types.h>

#include <string>

#include "cornerturn/convert.hpp"

namespace cornerturn::cuda {

namespace detail {
CORNERTURN_EXPORT void convert(const cornerturn::detail::typed_tensor& source,
                               const cornerturn::detail::axis_list& axes,
                               const cornerturn::detail::typed_tensor& destination, const conversion& how,
                               cudaStream_t stream);
// Does not ask CUDA, as copy_on().
CORNERTURN_EXPORT void convert_on(int device, const cornerturn::detail::typed_tensor& source,
                                  const cornerturn::detail::axis_list& axes,
                                  const cornerturn::detail::typed_tensor& destination, const conversion& how,
                                  cudaStream_t stream);
CORNERTURN_EXPORT std::string explain_convert(const cornerturn::detail::typed_tensor& source,
                                              const cornerturn::detail::axis_list& axes,
                                              const cornerturn::detail::typed_tensor& destination,
                                              const conversion& how);
}  // namespace detail

/// Says in one line which kernel would convert, how the tensor is cut into tiles, and the predicted time.
/// @param source, axes, destination, how See convert().
/// @return The line.
/// @throws invalid_argument if convert() would.
/// @throws unsupported if convert() would.
template <class S, class T>
std::string explain_convert(const tensor_view<S>& source, const cornerturn::detail::axis_list& axes,
                            const tensor_view<T>& destination, const conversion& how = {}) {
    return detail::explain_convert(cornerturn::detail::typed(source), axes, cornerturn::detail::typed(destination),
                                   how);
}

/// Converts a tensor and permutes its axes.
/// @param source The source.
/// @param axes The permutation: one number for each axis, in braces, {0, 3, 1, 2}, or in a container.
/// @param destination The destination. The extent of axis k is that of axis axes[k] of the source.
/// @param how The scale, the bias and the rules for what is out of range.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if the types cannot be converted, `axes` is no permutation, extents or strides do not fit,
/// an address is wrong, scales or biases do not fit, source and destination overlap, or the stream belongs to another
/// device.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws cuda_error if CUDA reports an error.
template <class S, class T>
void convert(const tensor_view<S>& source, const cornerturn::detail::axis_list& axes, const tensor_view<T>& destination,
             const conversion& how, cudaStream_t stream) {
    static_assert(!std::is_const_v<T>, "cornerturn: a view of const elements cannot be a destination");
    detail::convert(cornerturn::detail::typed(source), axes, cornerturn::detail::typed(destination), how, stream);
}

/// Converts a tensor.
/// @param source The source.
/// @param destination The destination, of the same extents.
/// @param how The scale, the bias and the rules for what is out of range.
/// @param stream The stream that orders the work.
/// @throws invalid_argument as above.
/// @throws unsupported as above.
/// @throws cuda_error as above.
template <class S, class T>
void convert(const tensor_view<S>& source, const tensor_view<T>& destination, const conversion& how,
             cudaStream_t stream) {
    static_assert(!std::is_const_v<T>, "cornerturn: a view of const elements cannot be a destination");
    detail::convert(cornerturn::detail::typed(source), cornerturn::detail::same_order(source.any().extents),
                    cornerturn::detail::typed(destination), how, stream);
}

}  // namespace cornerturn::cuda
