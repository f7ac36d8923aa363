// Products of matrices in a GPU's memory, in single precision.
//
//     cornerturn::matrix_view<const float> a{at_a, m, k}, b{at_b, k, n};
//     cornerturn::matrix_view<float> c{at_c, m, n};
//     cornerturn::cuda::gemm(1, a, b, 0, c, stream);
//
// Every call does the following, and nothing else:
//  - Effect: C = alpha op(A) op(B) + beta C, where op(X) is X or its transpose. C is m x n, op(A) m x k, op(B) k x n;
//    each lies row by row, with any leading dimension, aligned as a float is. In a batch, product i is of matrix i of
//    each; A's and B's strides may be 0.
//  - Arithmetic: that of floats, by fused multiply-adds and no tensor cores: an error of at most about k roundings of
//    the sum of the products' magnitudes, as of any order of summation. Infinities, NaN, subnormal numbers and -0 are
//    what floats make of them. Where beta is 0, C is not read; where alpha is 0, A and B are not. Two calls with the
//    same arguments give the same bits on GPUs of one kind with as many multiprocessors. Roundings may
//    differ with the matrices' alignment, and with whether there is a workspace. k is at most 2^33.
//  - Order: the work is ordered in `stream`, as kernel launches are, and can be captured in a CUDA graph. The call does
//    not wait for it. The matrices must live until the work is done. From Hopper on, a kernel may be started while the
//    one ahead of it ends, as cornerturn/cuda/transpose.hpp tells.
//  - Workspace: some products need memory, for A or B transposed or aligned and for partial sums. Give it in the
//    options, and it must be apart from A, B and C, live until the work is done, and serve one stream at a time. If you
//    give none, the library takes it from a memory pool of its own, one for each device, in the stream's order. The
//    pool keeps what it has: as much as all calls needed that were in flight at one time, rounded up to what CUDA hands
//    out (32 MiB at a time). kept_workspace_bytes() tells how much that is, give_back_workspace() gives it back to
//    CUDA. Where there is no memory, or the device has no memory pools, the call computes the product without, which
//    takes longer. A CUDA graph that captures a call owns its workspace: it has memory nodes, and what CUDA forbids of
//    such graphs is forbidden.
//  - Speed: tuned on Hopper. Other GPUs, from compute capability 7.5 on, get those of its kernels that fit them.
//  - Where: the stream and the current device belong together; the matrices lie in memory of that device, or in memory
//    that CUDA gave to host and device (pinned, managed).
//  - Threads: any number may call at once, on one stream or on several, for one GPU or for several.
//  - Aliasing: C shares no element with A or B. A and B may.
//  - An empty C does nothing; its address may be null. Where k is 0, or alpha, so may A's and B's.
//  - Errors come before anything is launched: invalid_argument names the argument, its value and what it must be.
//    unsupported is of a k above 2^33. cuda_error is an error of CUDA's own. An error that a kernel meets later shows
//    where the stream is next waited for.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>

#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn::cuda {

enum class op { as_it_is, transposed };

struct gemm_options {
    op a = op::as_it_is, b = op::as_it_is;
    void* workspace = nullptr;         // aligned to 16 bytes, as memory of cudaMalloc's is; or null
    std::int64_t workspace_bytes = 0;  // at least gemm_workspace_bytes(), where there is one
};

CORNERTURN_EXPORT void gemm(float alpha, batch_view<const float> a, batch_view<const float> b, float beta,
                            batch_view<float> c, cudaStream_t stream, const gemm_options& options = {});

// The most workspace, in bytes, that such a product takes on the current device, wherever its matrices lie: their
// addresses are not looked at, nor are the options' workspace. Throws what gemm() throws for their shapes.
CORNERTURN_EXPORT std::int64_t gemm_workspace_bytes(batch_view<const float> a, batch_view<const float> b,
                                                    batch_view<float> c, const gemm_options& options = {});

// Which kernels would run on the current device, for matrices that lie there, with a workspace or without, as the
// options have it; and why, by what others are estimated to take: one line. Nothing is read. Throws what gemm() throws
// for their shapes.
CORNERTURN_EXPORT std::string explain_gemm(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                                           const gemm_options& options = {});

// kept_workspace_bytes(): how much of the current device's memory the library's pool holds, in use or not.
// give_back_workspace(): returns to CUDA what is not in use. Work that was ordered and is not done keeps its memory:
// wait for it first. Any number of threads may call, also while one captures a graph. Throw cuda_error.
CORNERTURN_EXPORT std::int64_t kept_workspace_bytes();
CORNERTURN_EXPORT void give_back_workspace();

// C is written. These are here to say so.
template <class A, class B, class T>
void gemm(float, const A&, const B&, float, matrix_view<const T>, cudaStream_t, const gemm_options& = {}) {
    cornerturn::detail::check_elements<const T>();
}
template <class A, class B, class T>
void gemm(float, const A&, const B&, float, batch_view<const T>, cudaStream_t, const gemm_options& = {}) {
    cornerturn::detail::check_elements<const T>();
}

inline void gemm(float alpha, matrix_view<const float> a, matrix_view<const float> b, float beta, matrix_view<float> c,
                 cudaStream_t stream, const gemm_options& options = {}) {
    gemm(alpha, cornerturn::detail::one(a), cornerturn::detail::one(b), beta, cornerturn::detail::one(c), stream,
         options);
}
inline std::int64_t gemm_workspace_bytes(matrix_view<const float> a, matrix_view<const float> b, matrix_view<float> c,
                                         const gemm_options& options = {}) {
    return gemm_workspace_bytes(cornerturn::detail::one(a), cornerturn::detail::one(b), cornerturn::detail::one(c),
                                options);
}
inline std::string explain_gemm(matrix_view<const float> a, matrix_view<const float> b, matrix_view<float> c,
                                const gemm_options& options = {}) {
    return explain_gemm(cornerturn::detail::one(a), cornerturn::detail::one(b), cornerturn::detail::one(c), options);
}

}  // namespace cornerturn::cuda
