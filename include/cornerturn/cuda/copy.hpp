/// @file
/// Copies between tensors in the memory of a GPU that have the same extents and any strides, and permutations of axes,
/// at memory bandwidth.
///
/// @code
/// cornerturn::cuda::copy(source, destination, stream);
/// cornerturn::cuda::permute(nchw, {0, 2, 3, 1}, nhwc, stream);
/// @endcode
///
/// cornerturn/tensor_view.hpp says how to view tensors. The rules for streams, early start, memory, the L2 cache,
/// threads and errors are those of cornerturn/cuda/transpose.hpp. These rules hold too:
/// - **Effect** of copy(): destination(i, j, ...) = source(i, j, ...) for every element, bit for bit.
/// - **Effect** of permute(source, axes, destination): axis k of the destination is axis axes[k] of the source, as in
///   numpy.transpose. A negative axis counts from the end.
/// - **Gaps** between the elements of the destination are never written. Bytes beside the elements of the source may be
///   read, and their values do not matter.
/// - **Elements** have any trivially copyable type, of any size. All their bytes are moved, padding too.
/// - **Strides** may have any sign. The source may repeat elements: a stride may be 0, and axes may overlap.
/// - **Destination**: no two elements coincide, or the call throws invalid_argument. They do not coincide if, with the
///   axes sorted by stride, each stride is larger than the span of all axes with smaller strides. The library also
///   works it out if just two axes interleave. If it cannot tell, the call throws `unsupported`.
/// - **Aliasing**: source and destination share no element. They may interleave as slices of one larger tensor do. If
///   the library cannot tell whether they share an element, the call throws `unsupported`. A tensor that is copied to
///   itself stays as it is. Nothing is permuted in place.
/// - **Alignment**: an address is a multiple of alignof(T).
/// - **Empty** tensors: the call does nothing, and the pointer may be null.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn::cuda {

/// How a plan chooses among the kernels that can make its copy.
enum class choice {
    predicted,  ///< The one with the least predicted time, or that was measured before. All plain calls do this.
    measured,   ///< The fastest one, when all that may be the fastest are timed.
};

/// A copy between tensors of certain extents and strides on one GPU, for many calls with different addresses.
///
/// Making a plan costs about as much as one call of copy(). Calling it costs the checks of the addresses and a launch.
/// A plan is a value: it can be copied and kept, and threads may share it.
class CORNERTURN_EXPORT copy_plan {
public:
    /// Checks extents and strides, and makes a plan for the current device.
    /// @param extents The extents of both tensors, in braces or in a container.
    /// @param source_strides The strides of the source, in elements: as many as extents.
    /// @param destination_strides The strides of the destination, in elements: as many as extents.
    /// @param element_size The bytes of an element, 1 to 2147483647.
    /// @param element_alignment The alignment of the addresses in bytes: a power of two that divides element_size.
    /// @throws invalid_argument if an argument is wrong, or elements of the destination overlap.
    /// @throws unsupported if the library cannot tell whether elements of the destination overlap.
    /// @throws cuda_error if there is no device.
    copy_plan(const cornerturn::detail::axis_list& extents, const cornerturn::detail::axis_list& source_strides,
              const cornerturn::detail::axis_list& destination_strides, std::int64_t element_size,
              std::int64_t element_alignment = 1);

    /// Makes a plan, and with choice::measured times the kernels first. There are at most about 30 of them, and
    /// each copies the tensor at most 20 times: tenths of a second for a tensor of a GB. This pays for a layout that is
    /// used thousands of times, or if the predicted choice is wrong: it is within 5 % of the best in about 19 layouts
    /// of 20 (docs/experiments/copies.md).
    ///
    /// The choice holds for all later copies, permutations and transposes of this layout on such a GPU whose addresses
    /// have the same remainder by 64 bytes, in every thread, until the process ends. save_choices() can keep it longer.
    ///
    /// The call writes the destination, many times, and waits for the stream.
    /// @param extents, source_strides, destination_strides, element_size, element_alignment See above.
    /// @param how With choice::predicted, the rest is ignored.
    /// @param source The address of element (0, 0, ...) of the source. If it or the destination is null, the call
    /// allocates memory for both and frees it. Its addresses are multiples of 256 bytes.
    /// @param destination The address of element (0, 0, ...) of the destination, which is overwritten.
    /// @param stream The stream that orders the work. It must not be in capture.
    /// @throws invalid_argument as above, or if the addresses or the stream are wrong.
    /// @throws unsupported as above.
    /// @throws cuda_error if CUDA reports an error, or memory is short.
    copy_plan(const cornerturn::detail::axis_list& extents, const cornerturn::detail::axis_list& source_strides,
              const cornerturn::detail::axis_list& destination_strides, std::int64_t element_size,
              std::int64_t element_alignment, choice how, const void* source = nullptr, void* destination = nullptr,
              cudaStream_t stream = nullptr);

    /// Copies the tensor at these addresses, as copy() does.
    /// @param source The address of element (0, 0, ...) of the source.
    /// @param destination The address of element (0, 0, ...) of the destination.
    /// @param stream The stream that orders the work.
    /// @throws invalid_argument if an address is not aligned as the plan says, if the device cannot reach it, if source
    /// and destination overlap, or if the stream or the current device is not that of the plan.
    /// @throws unsupported if the library cannot tell whether source and destination overlap.
    /// @throws cuda_error if CUDA reports an error.
    void operator()(const void* source, void* destination, cudaStream_t stream) const;

    /// @return The number of the device.
    int device() const { return device_; }

    /// Says in one line which kernel would run for these addresses, how the copy is cut into tiles, and its predicted
    /// time.
    /// @param source The address of element (0, 0, ...) of the source.
    /// @param destination The address of element (0, 0, ...) of the destination.
    /// @return The line.
    std::string explain(const void* source, const void* destination) const;

private:
    cornerturn::detail::axis_list extents_, source_strides_, destination_strides_;
    std::int64_t element_size_, element_alignment_;
    int device_;
};

/// Writes all choices that were measured in this process to a file, as text.
/// @param file The path of the file, which is replaced.
/// @throws invalid_argument if the file cannot be written.
CORNERTURN_EXPORT void save_choices(const std::string& file);

/// Adds the choices of such a file to those of this process. Choices for other GPUs do no harm. A choice that this
/// version of the library does not have is left out.
/// @param file The path of the file.
/// @return The number of choices that were added.
/// @throws invalid_argument if the file cannot be read, or is not a file of choices.
CORNERTURN_EXPORT int load_choices(const std::string& file);

namespace detail {
CORNERTURN_EXPORT void copy(const cornerturn::detail::any_tensor& source,
                            const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                            std::int64_t element_alignment, cudaStream_t stream);
// Does not ask CUDA. The caller guarantees that `device` is current, that the stream belongs to it, and that it can
// reach both addresses.
CORNERTURN_EXPORT void copy_on(int device, const cornerturn::detail::any_tensor& source,
                               const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                               std::int64_t element_alignment, cudaStream_t stream);
CORNERTURN_EXPORT void permute(const cornerturn::detail::any_tensor& source, const cornerturn::detail::axis_list& axes,
                               const cornerturn::detail::any_tensor& destination, std::int64_t element_size,
                               std::int64_t element_alignment, cudaStream_t stream);
}  // namespace detail

/// Copies a tensor.
/// @param source The source.
/// @param destination The destination, of the same extents. T is deduced from it.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if extents or strides do not fit, an address is wrong, source and destination overlap, or
/// the stream belongs to another device.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void copy(const tensor_view<const std::type_identity_t<T>>& source, const tensor_view<T>& destination,
          cudaStream_t stream) {
    cornerturn::detail::check_elements<T>();
    detail::copy(source.any(), destination.any(), sizeof(T), alignof(T), stream);
}

/// Permutes the axes of a tensor.
/// @param source The source.
/// @param axes The permutation: one number for each axis, in braces, {0, 2, 3, 1}, or in a container.
/// @param destination The destination. The extent of axis k is that of axis axes[k] of the source. T is deduced from
/// it.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if `axes` is no permutation, extents or strides do not fit, an address is wrong, source and
/// destination overlap, or the stream belongs to another device.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void permute(const tensor_view<const std::type_identity_t<T>>& source, const cornerturn::detail::axis_list& axes,
             const tensor_view<T>& destination, cudaStream_t stream) {
    cornerturn::detail::check_elements<T>();
    detail::permute(source.any(), axes, destination.any(), sizeof(T), alignof(T), stream);
}

}  // namespace cornerturn::cuda
