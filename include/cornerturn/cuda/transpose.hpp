// Transposes of matrices in a GPU's memory, at the speed of that memory.
//
//     cornerturn::cuda::transpose(cornerturn::matrix_view{in, rows, cols}, cornerturn::matrix_view{out, cols, rows},
//                                 stream);
//
// cornerturn/matrix_view.hpp says how to view parts of matrices, batches, column-major matrices, containers and
// mdspans.
//
// Every call does the following, and nothing else:
//  - Effect: destination(col, row) = source(row, col) for every element, bit for bit (NaN payloads too). An element has
//    any trivially copyable type; 1, 2, 4, 8 and 16 bytes are fast, any other size is correct and coalesced.
//  - Order: the work is ordered in `stream`, as a kernel launch is, and can be captured in a CUDA graph. The call does
//    not wait for it, and allocates no device memory. The matrices must live until the work is done. From Hopper on, a
//    kernel may be started while the one ahead of it ends (programmatic dependent launch): it waits for that one before
//    it touches memory, and what follows it starts when it has ended. A kernel of yours that is launched so has to wait
//    for what is ahead of it, too; and a captured graph's edges carry data, which CUDA's queries of edges must ask for.
//  - Where: the stream and the current device belong together; the matrices lie in memory of that device, or in memory
//    that CUDA gave to host and device (pinned, managed).
//  - Afterwards: some 16 MiB of what was moved stay in the L2 as the last to be evicted, on an H200 for about a
//    millisecond. What reads the result next is faster for it; kernels with a working set of 24-40 MiB that do not read
//    it take up to 20 % longer. cornerturn/cuda/l2.hpp has the choice.
//  - Threads: any number may call at once, on one stream or on several, for one GPU or for several.
//  - Aliasing: source and destination share no element, with one exception: the same square matrix (or batch) with the
//    same leading dimension (and stride) as source and destination is transposed in place.
//  - Empty matrices and batches do nothing; their pointers may be null.
//  - Errors come before anything is launched: invalid_argument names the argument, its value and what it must be.
//    cuda_error is an error of CUDA's own; one that can be cleared is left cleared. An error that the kernel meets
//    later shows where the stream is next waited for, as always in CUDA.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/matrix_view.hpp"
#include "cornerturn/transpose_layout.hpp"

namespace cornerturn::cuda {

// A layout that has been checked, and the GPU that it is for. Making one costs about as much as one call of
// transpose(); calling it costs a launch and the checks of the addresses. A value: copy it, keep it, share it between
// threads.
class CORNERTURN_EXPORT transpose_plan {
public:
    // For the current device. Throws invalid_argument, and cuda_error where there is no device.
    explicit transpose_plan(const transpose_layout& layout);

    // Transposes what lies at these addresses. Throws invalid_argument where they break the layout's alignment, overlap
    // or cannot be reached, and where the stream or the current device is not the plan's.
    void operator()(const void* source, void* destination, cudaStream_t stream) const;

    const transpose_layout& layout() const { return layout_; }
    int device() const { return device_; }

    // Which kernel would run for these addresses, how it is tuned, and why: one line.
    std::string explain(const void* source, const void* destination) const;

private:
    transpose_layout layout_;
    int device_;
};

template <class T>
void transpose(batch_view<const std::type_identity_t<T>> source, batch_view<T> destination, cudaStream_t stream);

template <class T>
void transpose(matrix_view<const std::type_identity_t<T>> source, matrix_view<T> destination, cudaStream_t stream) {
    using cornerturn::detail::one;
    transpose<T>(one(source), one(destination), stream);
}

// In place: m.rows == m.cols.
template <class T>
void transpose_in_place(matrix_view<T> m, cudaStream_t stream) {
    transpose<T>(m, m, stream);
}
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
