/// @file
/// Transposes of matrices in the memory of a GPU, at memory bandwidth.
///
/// @code
/// cornerturn::cuda::transpose(cornerturn::matrix_view{in, rows, cols}, cornerturn::matrix_view{out, cols, rows},
///                             stream);
/// @endcode
///
/// cornerturn/matrix_view.hpp says how to view parts of matrices, batches, column-major matrices, containers and
/// mdspans.
///
/// These rules hold for every call:
/// - **Effect**: destination(col, row) = source(row, col) for every element, bit for bit (NaN payloads and padding
///   too).
/// - **Elements** have any trivially copyable type. Those of 1, 2, 4, 8 and 16 bytes are fast. For any other
///   size the result is correct and the accesses are coalesced.
/// - **Stream**: the work is ordered in `stream` as a kernel launch is, and a CUDA graph can capture it. The call does
///   not wait for the work, and allocates no device memory. The matrices must live until the work is done.
/// - **Early start**: from Hopper on, a kernel may start while the kernel before it ends (programmatic dependent
///   launch). The early kernel waits for the previous one before it touches memory. Your own work after a transpose
///   starts when the transpose has ended. If you launch a kernel of your own in this way, it must wait for the kernel
///   before it, too. In a captured graph, such launches are programmatic edges, which carry edge data. To query them,
///   use the functions that return edge data: cudaGraphGetEdges_v2 in CUDA 12, cudaGraphGetEdges in CUDA 13.
/// - **Where**: the stream belongs to the current device. The matrices lie in memory of that device, or in memory that
///   CUDA allocated for host and device (pinned, managed).
/// - **L2 cache**: about 16 MiB of the moved data stay in the cache longer than other lines: for about a millisecond on
///   an H200. A kernel that reads the result next is faster. Kernels with a working set of 24-40 MiB that do not read
///   it take up to 28 % longer during that time. cornerturn/cuda/l2.hpp has the choice.
/// - **Threads**: any number may call at once, on one stream or several, for one GPU or several.
/// - **Aliasing**: source and destination share no element. There is one exception: a square matrix (or batch) is
///   transposed in place if source and destination have the same address and leading dimension (and stride).
/// - **Padding** after the rows is never written. It may be read, and its values do not matter.
/// - **Alignment**: an address is a multiple of alignof(T).
/// - **Empty** matrices and batches: the call does nothing, and the pointers may be null.
/// - **Errors** are found before anything is launched. An invalid_argument names the argument, its value and what it
///   must be. A cuda_error is an error of CUDA itself. The library clears it, unless the error is sticky.
///   An error that a kernel meets later appears at the next call that waits for the stream, as always in CUDA.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/matrix_view.hpp"
#include "cornerturn/transpose_layout.hpp"

/// Transposes, copies, permutations and matrix products in the memory of a GPU.
namespace cornerturn::cuda {

/// A transpose of one layout on one GPU, for many calls with different addresses.
///
/// Making a plan costs about as much as one call of transpose(). Calling it costs the checks of the addresses and a
/// launch. A plan is a value: it can be copied and kept, and threads may share it.
class CORNERTURN_EXPORT transpose_plan {
public:
    /// Checks a layout, and makes a plan for the current device.
    /// @param layout The layout.
    /// @throws invalid_argument if the layout is wrong.
    /// @throws cuda_error if there is no device.
    explicit transpose_plan(const transpose_layout& layout);

    /// Transposes the matrices at these addresses, as transpose() does.
    /// @param source The address of the source.
    /// @param destination The address of the destination.
    /// @param stream The stream that orders the work.
    /// @throws invalid_argument if an address is not aligned as the layout says, if the device cannot reach it, if
    /// source and destination overlap, or if the stream or the current device is not that of the plan.
    /// @throws cuda_error if CUDA reports an error.
    void operator()(const void* source, void* destination, cudaStream_t stream) const;

    /// @return The layout.
    const transpose_layout& layout() const { return layout_; }
    /// @return The number of the device.
    int device() const { return device_; }

    /// Says in one line which kernel would run for these addresses, how it is tuned, its predicted time, and the
    /// next two ways.
    /// @param source The address of the source.
    /// @param destination The address of the destination.
    /// @return The line.
    std::string explain(const void* source, const void* destination) const;

private:
    transpose_layout layout_;
    int device_;
};

/// Transposes a batch of matrices.
/// @param source The source. All its matrices are rows x cols.
/// @param destination The destination: as many matrices, each cols x rows. T is deduced from it.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if the shapes do not fit, an address is wrong, source and destination overlap, or the
/// stream belongs to another device.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, cudaStream_t stream);

/// Transposes a matrix.
/// @param source The source, rows x cols.
/// @param destination The destination, cols x rows. T is deduced from it.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if the shapes do not fit, an address is wrong, source and destination overlap, or the
/// stream belongs to another device.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination, cudaStream_t stream) {
    using cornerturn::detail::one;
    transpose<T>(one(source), one(destination), stream);
}

/// Transposes a square matrix in place.
/// @param m The matrix: m.rows == m.cols.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if the matrix is not square, its leading dimension or address is wrong, or the stream
/// belongs to another device.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void transpose_in_place(matrix_view<T> m, cudaStream_t stream) {
    transpose<T>(m, m, stream);
}
/// Transposes each matrix of a batch in place.
/// @param m The batch: m.rows == m.cols, and its matrices share no element.
/// @param stream The stream that orders the work.
/// @throws invalid_argument if the matrices are not square, the layout or the address is wrong, or the stream belongs
/// to another device.
/// @throws cuda_error if CUDA reports an error.
template <class T>
void transpose_in_place(batch_view<T> m, cudaStream_t stream) {
    transpose<T>(m, m, stream);
}

namespace detail {
CORNERTURN_EXPORT void transpose(const cornerturn::detail::any_batch& source,
                                 const cornerturn::detail::any_batch& destination, std::int64_t element_size,
                                 std::int64_t element_alignment, cudaStream_t stream);
}  // namespace detail

template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, cudaStream_t stream) {
    cornerturn::detail::check_elements<T>();
    using cornerturn::detail::any;
    detail::transpose(any(source), any(destination), sizeof(T), alignof(T), stream);
}

}  // namespace cornerturn::cuda
