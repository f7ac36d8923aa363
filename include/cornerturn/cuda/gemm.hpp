/// @file
/// Products of matrices in the memory of a GPU, in single precision.
///
/// @code
/// cornerturn::matrix_view<const float> a{at_a, m, k}, b{at_b, k, n};
/// cornerturn::matrix_view<float> c{at_c, m, n};
/// cornerturn::cuda::gemm(1, a, b, 0, c, stream);
/// @endcode
///
/// These rules hold for every call:
/// - **Effect**: C = alpha op(A) op(B) + beta C, where op(X) is X or its transpose. In a batch, this holds for
///   each i: C_i = alpha op(A_i) op(B_i) + beta C_i.
/// - **Shapes**: C is m x n, op(A) is m x k, op(B) is k x n. All are row-major, with any leading dimension. k is at
///   most 2^33. In a batch, the strides of A and B may be 0.
/// - **Alignment**: addresses are aligned as a float is.
/// - **Arithmetic**: fused multiply-adds of floats, without tensor cores. The error is at most about k * 2^-24 times
///   the sum of the magnitudes of the products, as with any order of summation. Infinities, NaN, subnormal numbers and
///   -0 follow IEEE 754. If beta is 0, C is not read. If alpha is 0, A and B are not read.
/// - **Same bits**: two calls with the same arguments give the same bits on GPUs of one kind with equally many
///   multiprocessors. Roundings may differ with the alignment of the matrices, and with whether there is a workspace.
/// - **Stream**: the work is ordered in `stream` as kernel launches are, and a CUDA graph can capture it. The call does
///   not wait for the work. The matrices must live until the work is done. From Hopper on, a kernel may start while the
///   kernel before it ends, as cornerturn/cuda/transpose.hpp says.
/// - **Where**: the stream belongs to the current device. The matrices lie in memory of that device, or in memory that
///   CUDA allocated for host and device (pinned, managed).
/// - **Speed**: the kernels are tuned on Hopper. Other GPUs, from compute capability 7.5 on, get those that fit them.
/// - **Threads**: any number may call at once, on one stream or several, for one GPU or several.
/// - **Aliasing**: C shares no element with A or B. A and B may share elements.
/// - **Empty**: if C is empty, the call does nothing, and its address may be null. If k or alpha is 0, the addresses
///   of A and B may be null.
/// - **Errors** are found before anything is launched. An invalid_argument names the argument, its value and what it
///   must be. A cuda_error is an error of CUDA itself. An error that a kernel meets later appears at the next call that
///   waits for the stream.
///
/// Some products need a **workspace**: memory for A or B, transposed or aligned, and for partial sums.
/// - You can give it in the options. It must not overlap A, B or C, must live until the work is done, and serves one
///   stream at a time.
/// - If you give none, the library takes it from its own memory pool, in the order of the stream. There is one pool for
///   each device. The pool grows to the workspace of all calls that were in flight at the same time, in steps of 32
///   MiB. It keeps this memory. kept_workspace_bytes() says how much that is. give_back_workspace() gives it back to
///   CUDA.
/// - If there is no memory, or the device has no memory pools, the call computes the product without a workspace. That
///   takes longer.
/// - A CUDA graph that captures a call owns its workspace. The graph has memory nodes, and the limits of CUDA for such
///   graphs hold.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn::cuda {

/// How a product reads A or B.
enum class op {
    none,       ///< op(X) = X.
    transposed  ///< op(X) is the transpose of X.
};

/// Options of a product.
struct gemm_options {
    op a = op::none,            ///< How A is read.
        b = op::none;           ///< How B is read.
    void* workspace = nullptr;  ///< Aligned to 16 bytes, as memory of cudaMalloc is. Null: the library allocates it.
    std::int64_t workspace_bytes = 0;  ///< gemm_workspace_bytes() or more; 0 without a workspace.
};

/// Computes C = alpha op(A) op(B) + beta C for each product of a batch.
/// @param alpha The factor of the product.
/// @param a The matrices A, as many as C. The stride may be 0.
/// @param b The matrices B, as many as C. The stride may be 0.
/// @param beta The factor of the old C. If it is 0, C is not read.
/// @param c The matrices C. They share no element.
/// @param stream The stream that orders the work.
/// @param options Whether A and B are transposed, and the workspace.
/// @throws invalid_argument if the shapes do not fit, an address is wrong, C overlaps A or B, the workspace is wrong,
/// or the stream belongs to another device.
/// @throws unsupported if k is above 2^33.
/// @throws cuda_error if CUDA reports an error.
CORNERTURN_EXPORT void gemm(float alpha, batch_view<const float> a, batch_view<const float> b, float beta,
                            batch_view<float> c, cudaStream_t stream, const gemm_options& options = {});

/// The workspace that is enough for products of these shapes on the current device, at any addresses.
///
/// The function looks neither at the addresses of the matrices nor at the workspace of the options.
/// @param a The matrices A.
/// @param b The matrices B.
/// @param c The matrices C.
/// @param options Whether A and B are transposed.
/// @return The bytes; 0 if C is empty.
/// @throws error The errors are those of gemm() for these shapes.
CORNERTURN_EXPORT std::int64_t gemm_workspace_bytes(batch_view<const float> a, batch_view<const float> b,
                                                    batch_view<float> c, const gemm_options& options = {});

/// Says in one line which kernels gemm() would run on the current device, and why: it also names the estimated
/// times of other ways to compute the product. It reads no matrix.
/// @param a The matrices A. The addresses matter.
/// @param b The matrices B. The addresses matter.
/// @param c The matrices C. The addresses matter.
/// @param options Whether A and B are transposed, and whether there is a workspace.
/// @return The line.
/// @throws error The errors are those of gemm() for these shapes.
CORNERTURN_EXPORT std::string explain_gemm(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                                           const gemm_options& options = {});

/// How much memory of the current device the pool of the library holds, in use or not.
///
/// Any number of threads may call, even while one captures a graph.
/// @return The bytes.
/// @throws cuda_error if CUDA reports an error.
CORNERTURN_EXPORT std::int64_t kept_workspace_bytes();

/// Gives memory of the pool that is not in use back to CUDA, on the current device.
///
/// Work that is ordered but not done keeps its memory, so wait for the work first. Any number of threads may call, even
/// while one captures a graph.
/// @throws cuda_error if CUDA reports an error.
CORNERTURN_EXPORT void give_back_workspace();

/// @cond
// C is written. These overloads refuse a const C with a message that says so.
template <class A, class B, class T>
void gemm(float, const A&, const B&, float, matrix_view<const T>, cudaStream_t, const gemm_options& = {}) {
    cornerturn::detail::check_elements<const T>();
}
template <class A, class B, class T>
void gemm(float, const A&, const B&, float, batch_view<const T>, cudaStream_t, const gemm_options& = {}) {
    cornerturn::detail::check_elements<const T>();
}

/// @endcond

/// Computes C = alpha op(A) op(B) + beta C.
/// @param alpha The factor of the product.
/// @param a The matrix A.
/// @param b The matrix B.
/// @param beta The factor of the old C. If it is 0, C is not read.
/// @param c The matrix C.
/// @param stream The stream that orders the work.
/// @param options Whether A and B are transposed, and the workspace.
/// @throws error The errors are those of a batch.
inline void gemm(float alpha, matrix_view<const float> a, matrix_view<const float> b, float beta, matrix_view<float> c,
                 cudaStream_t stream, const gemm_options& options = {}) {
    gemm(alpha, cornerturn::detail::one(a), cornerturn::detail::one(b), beta, cornerturn::detail::one(c), stream,
         options);
}
/// The workspace that is enough for a product of these shapes on the current device, at any addresses.
/// @param a The matrix A.
/// @param b The matrix B.
/// @param c The matrix C.
/// @param options Whether A and B are transposed.
/// @return The bytes; 0 if C is empty.
/// @throws error The errors are those of gemm() for these shapes.
inline std::int64_t gemm_workspace_bytes(matrix_view<const float> a, matrix_view<const float> b, matrix_view<float> c,
                                         const gemm_options& options = {}) {
    return gemm_workspace_bytes(cornerturn::detail::one(a), cornerturn::detail::one(b), cornerturn::detail::one(c),
                                options);
}
/// Says in one line which kernels gemm() would run on the current device, and why, as for a batch.
/// @param a The matrix A. The address matters.
/// @param b The matrix B. The address matters.
/// @param c The matrix C. The address matters.
/// @param options Whether A and B are transposed, and whether there is a workspace.
/// @return The line.
/// @throws error The errors are those of gemm() for these shapes.
inline std::string explain_gemm(matrix_view<const float> a, matrix_view<const float> b, matrix_view<float> c,
                                const gemm_options& options = {}) {
    return explain_gemm(cornerturn::detail::one(a), cornerturn::detail::one(b), cornerturn::detail::one(c), options);
}

}  // namespace cornerturn::cuda
