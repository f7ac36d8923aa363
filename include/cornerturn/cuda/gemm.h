/**
 * @file
 * The C interface for products of matrices in the memory of a GPU, in single precision.
 *
 * @code{.c}
 * // C = A B, of row-major matrices without gaps
 * cornerturn_cuda_gemm(0, 0, m, n, k, 1, a, k, b, n, 0, c, n, NULL, 0, stream);
 * @endcode
 *
 * The functions are in libcornerturn. They do the same as the C++ functions of cornerturn/cuda/gemm.hpp, and the rules
 * there hold: for values, alignment, aliasing, the stream, the workspace and the library's own memory. Codes are those
 * of cornerturn/cornerturn.h. Messages have the names of the C++ arguments: `a.ld` is lda, `a.stride` a_stride,
 * `a.data` a, `options.workspace` workspace. This header needs no header of CUDA.
 *
 * All matrices are row-major. C is m x n. A is m x k, or k x m if it is transposed; B is k x n, or n x k if it is
 * transposed.
 */
#ifndef CORNERTURN_CUDA_GEMM_H
#define CORNERTURN_CUDA_GEMM_H

#include "cornerturn/cornerturn.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Computes C = alpha op(A) op(B) + beta C, where op(X) is X or its transpose.
 * @param a_transposed,b_transposed Whether op(A) and op(B) are the transposes, 0 or 1.
 * @param m,n,k The sizes: op(A) is m x k, op(B) is k x n, C is m x n.
 * @param alpha The factor of the product. If it is 0, A and B are not read.
 * @param a The address of A.
 * @param lda The leading dimension of A: k or more, or m or more if it is transposed.
 * @param b The address of B.
 * @param ldb The leading dimension of B: n or more, or k or more if it is transposed.
 * @param beta The factor of the old C. If it is 0, C is not read.
 * @param c The address of C.
 * @param ldc The leading dimension of C, n or more.
 * @param workspace Device memory for the call, aligned to 16 bytes. NULL: the library takes its own.
 * @param workspace_bytes The size of the workspace: what cornerturn_cuda_gemm_workspace_bytes() says, or more. 0
 * without one.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_gemm(int a_transposed, int b_transposed, int64_t m, int64_t n,
                                                         int64_t k, float alpha, const float* a, int64_t lda,
                                                         const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                                                         void* workspace, int64_t workspace_bytes,
                                                         struct CUstream_st* stream);

/**
 * Computes C_i = alpha op(A_i) op(B_i) + beta C_i for each product i of a batch.
 * @param a_transposed,b_transposed Whether op(A) and op(B) are the transposes, 0 or 1.
 * @param m,n,k The sizes of each product.
 * @param alpha,beta The factors of all products.
 * @param a,b,c The addresses of the first matrices.
 * @param lda,ldb,ldc The leading dimensions, as for one product.
 * @param a_stride,b_stride The floats from one matrix to the next; 0: all products read the same one.
 * @param c_stride The floats from one matrix C to the next. They share no element.
 * @param count The number of products.
 * @param workspace,workspace_bytes The workspace, as for one product.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_gemm_batch(int a_transposed, int b_transposed, int64_t m, int64_t n,
                                                               int64_t k, float alpha, const float* a, int64_t lda,
                                                               int64_t a_stride, const float* b, int64_t ldb,
                                                               int64_t b_stride, float beta, float* c, int64_t ldc,
                                                               int64_t c_stride, int64_t count, void* workspace,
                                                               int64_t workspace_bytes, struct CUstream_st* stream);

/**
 * The workspace that is enough for such a batch on the current device, at any addresses.
 * @param bytes Gets the size of the workspace, 0 if the product needs none.
 * @param a_transposed,b_transposed Whether op(A) and op(B) are the transposes, 0 or 1.
 * @param m,n,k The sizes of each product.
 * @param lda,a_stride,ldb,b_stride,ldc,c_stride The leading dimensions and strides. For one product strides are 0.
 * @param count The number of products, 1 for one.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_gemm_workspace_bytes(int64_t* bytes, int a_transposed,
                                                                         int b_transposed, int64_t m, int64_t n,
                                                                         int64_t k, int64_t lda, int64_t a_stride,
                                                                         int64_t ldb, int64_t b_stride, int64_t ldc,
                                                                         int64_t c_stride, int64_t count);

/**
 * How much memory of the current device the library's own pool holds, in use or not.
 * @param bytes Gets the size.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_kept_workspace_bytes(int64_t* bytes);

/**
 * Gives memory of the pool that is not in use back to CUDA, on the current device. Wait for the work first.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_give_back_workspace(void);

#ifdef __cplusplus
}
#endif

#endif
