/*
 * cornerturn for C and, by its foreign functions, for any other language: transposes of matrices and permutations of
 * tensors' axes, at the speed of memory. C99 or later, and C++. It needs no header of CUDA's.
 *
 *     if (cornerturn_transpose(in, rows, cols, cols, out, rows, sizeof(float), 0) != CORNERTURN_OK) {
 *         fprintf(stderr, "%s\n", cornerturn_last_error());
 *     }
 *
 * libcornerturn_host has the functions for host memory, libcornerturn those for a GPU's, whose names begin with
 * cornerturn_cuda_; both have those for messages and the version. They are the C++ ones of cornerturn/transpose.hpp,
 * cornerturn/copy.hpp and those in cornerturn/cuda/, with codes for exceptions. For all of them:
 *
 * Matrices   are row-major: element (row, col) of a matrix at `data` lies `row * ld + col` elements behind it, and the
 *            ld - cols elements behind each row are never written, and never matter. Sizes, leading dimensions (ld) and
 *            strides count elements, not bytes. A column-major m x n matrix (Fortran, BLAS) is the row-major n x m one
 *            with the same leading dimension: give its columns as rows, and its rows as cols.
 * Effect     destination(col, row) = source(row, col) for every element, bit for bit.
 * Elements   are element_size bytes, 1 or more; 1, 2, 4, 8 and 16 are fast.
 * Aliasing   source and destination share no element, with one exception: the same address as source and destination,
 *            with rows == cols, the same leading dimension (and stride), is transposed in place.
 * Empty      matrices and batches (a size of 0) are no error: nothing is done, and their addresses may be NULL.
 * Errors     come before anything is written or launched, as a code; cornerturn_last_error() has the sentence. No call
 *            prints, exits or throws.
 * Threads    any number may call at once.
 */
#ifndef CORNERTURN_CORNERTURN_H
#define CORNERTURN_CORNERTURN_H

#include <stddef.h>
#include <stdint.h>

#include "cornerturn/export.h"
#include "cornerturn/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What cudaStream_t points to. */
struct CUstream_st;

typedef enum cornerturn_status {
    CORNERTURN_OK = 0,
    CORNERTURN_INVALID_ARGUMENT = 1, /* can never be done; the message names the argument and its value */
    CORNERTURN_UNSUPPORTED = 2,      /* valid, but not on this machine */
    CORNERTURN_CUDA_ERROR = 3,       /* a call of CUDA's failed; the message begins with CUDA's name of the error */
    CORNERTURN_INTERNAL_ERROR = 4    /* anything else, such as host memory that ran out */
} cornerturn_status;

/* ---- Messages and version: none of these can fail ---- */

/* Why the last call that failed on the calling thread did: one sentence, "" where none has failed yet, never NULL.
 * Valid until the next call that fails on this thread, and no longer than the thread. */
CORNERTURN_EXPORT const char* cornerturn_last_error(void);

/* "ok", "invalid_argument", "unsupported", "cuda_error", "internal_error"; "unknown" for any other value. */
CORNERTURN_EXPORT const char* cornerturn_status_name(cornerturn_status status);

/* The version of the library, which may be newer than CORNERTURN_VERSION_NUMBER, the header's; and as "0.2.0". */
CORNERTURN_EXPORT int cornerturn_version_number(void);
CORNERTURN_EXPORT const char* cornerturn_version_string(void);

/* ---- Host memory: libcornerturn_host ----
 *
 * The work is done when the call returns, by at most `threads` threads, the caller's among them; 0: by as many as there
 * are cores. Addresses need no alignment: it affects speed alone. Where memory to work in runs out
 * (CORNERTURN_INTERNAL_ERROR), the destination is left in part written. */

/* Transposes one matrix. The source is rows x cols, source_ld >= cols; the destination is cols x rows,
 * destination_ld >= rows. */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose(const void* source, int64_t rows, int64_t cols,
                                                         int64_t source_ld, void* destination, int64_t destination_ld,
                                                         int64_t element_size, int threads);

/* Transposes `count` matrices of one shape. Source matrix i begins i * source_stride elements behind `source`, and
 * destination matrix i likewise. They may lie behind each other (stride >= (rows - 1) * ld + cols of that side) or side
 * by side in the rows of a larger matrix (ld >= (count - 1) * stride + cols of that side). */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose_batch(const void* source, int64_t rows, int64_t cols,
                                                               int64_t source_ld, int64_t source_stride,
                                                               void* destination, int64_t destination_ld,
                                                               int64_t destination_stride, int64_t count,
                                                               int64_t element_size, int threads);

/* Transposes a square matrix, n x n with ld >= n, in place. (A batch: cornerturn_transpose_batch with one address,
 * leading dimension and stride for both sides.) */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose_in_place(void* matrix, int64_t n, int64_t ld,
                                                                  int64_t element_size, int threads);

/* ---- Copies between tensors, in host memory ----
 *
 * Tensors have `rank` axes, 0 to 32. Extents and strides are arrays of `rank` numbers, one for each axis, and count
 * elements: element (i, j, ...) lies i * strides[0] + j * strides[1] + ... elements behind the address. Strides have
 * any sign; NULL in their place means row-major without gaps. The source may repeat elements, by a stride of 0 or axes
 * that overlap; the destination may not: sorted by stride, each of its axes steps beyond all that the smaller ones
 * span. Source and destination share no element. What lies between the elements of the destination is never
 * written; of the source, bytes beside elements may be read, and never matter. */

/* destination(i, j, ...) = source(i, j, ...). Both have these extents. */
CORNERTURN_EXPORT cornerturn_status cornerturn_copy(int rank, const int64_t* extents, const void* source,
                                                    const int64_t* source_strides, void* destination,
                                                    const int64_t* destination_strides, int64_t element_size,
                                                    int threads);

/* Axis k of the destination is axis axes[k] of the source, as in numpy.transpose; an axis below 0 counts from the end.
 * The extents are the source's. */
CORNERTURN_EXPORT cornerturn_status cornerturn_permute(int rank, const int64_t* extents, const void* source,
                                                       const int64_t* source_strides, const int* axes,
                                                       void* destination, const int64_t* destination_strides,
                                                       int64_t element_size, int threads);

/* How cornerturn_copy would do it, and why: one line into `text`, which has room for text_size bytes; a longer line is
 * cut off. It reads and writes no element. Errors are those of cornerturn_copy. */
CORNERTURN_EXPORT cornerturn_status cornerturn_explain_copy(int rank, const int64_t* extents, const void* source,
                                                            const int64_t* source_strides, const void* destination,
                                                            const int64_t* destination_strides, int64_t element_size,
                                                            char* text, size_t text_size);

/* ---- A GPU's memory: libcornerturn ----
 *
 * Where      the matrices lie in memory of the current device, or in memory that CUDA gave to host and device (pinned,
 *            managed), and live until the work is done. The stream belongs to the current device.
 * Alignment  addresses need none: it affects speed alone.
 * Stream     a cudaStream_t or CUstream; NULL is the default stream. The work is ordered in it as a kernel launch is,
 *            and can be captured in a CUDA graph. No call waits for it, and none allocates device memory. From Hopper
 *            on, kernels may be started while the one ahead of them ends: cornerturn/cuda/transpose.hpp says more.
 * Errors     that a kernel meets later show where the stream is next waited for, as always in CUDA.
 * Threads    any number may call at once, with one stream, plan and device or with several. */

/* As cornerturn_transpose, ordered in a stream. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose(const void* source, int64_t rows, int64_t cols,
                                                              int64_t source_ld, void* destination,
                                                              int64_t destination_ld, int64_t element_size,
                                                              struct CUstream_st* stream);

/* As cornerturn_transpose_batch. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose_batch(const void* source, int64_t rows, int64_t cols,
                                                                    int64_t source_ld, int64_t source_stride,
                                                                    void* destination, int64_t destination_ld,
                                                                    int64_t destination_stride, int64_t count,
                                                                    int64_t element_size, struct CUstream_st* stream);

/* As cornerturn_transpose_in_place. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose_in_place(void* matrix, int64_t n, int64_t ld,
                                                                       int64_t element_size,
                                                                       struct CUstream_st* stream);

/* ---- Copies between tensors, in a GPU's memory ---- */

/* As cornerturn_copy and cornerturn_permute, ordered in a stream. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_copy(int rank, const int64_t* extents, const void* source,
                                                         const int64_t* source_strides, void* destination,
                                                         const int64_t* destination_strides, int64_t element_size,
                                                         struct CUstream_st* stream);

CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_permute(int rank, const int64_t* extents, const void* source,
                                                            const int64_t* source_strides, const int* axes,
                                                            void* destination, const int64_t* destination_strides,
                                                            int64_t element_size, struct CUstream_st* stream);

/* As cornerturn_cuda_copy, but it asks CUDA nothing, which saves half a microsecond. The caller guarantees that
 * `device` is the current device, that the stream belongs to it, and that it can reach both addresses. If not, CUDA
 * reports an error at the launch or when the stream is next waited for, and an illegal address ends the context. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_copy_on(int device, int rank, const int64_t* extents,
                                                            const void* source, const int64_t* source_strides,
                                                            void* destination, const int64_t* destination_strides,
                                                            int64_t element_size, struct CUstream_st* stream);

/* As cornerturn_explain_copy, for the current device: which kernel, and its predicted time. Overlaps are not found. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_explain_copy(int rank, const int64_t* extents, const void* source,
                                                                 const int64_t* source_strides, const void* destination,
                                                                 const int64_t* destination_strides,
                                                                 int64_t element_size, char* text, size_t text_size);

/* ---- What stays in a GPU's L2 cache ---- */

typedef enum cornerturn_l2_lines {
    CORNERTURN_L2_KEPT = 0,    /* some 16 MiB of what was moved, as the last to be evicted: the default */
    CORNERTURN_L2_ORDINARY = 1 /* as after a copy */
} cornerturn_l2_lines;

/* For all calls of the calling thread from now on, plans' too. cornerturn/cuda/l2.hpp says which
 * is faster when. What has been launched or captured stays as it is. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_set_l2_lines(cornerturn_l2_lines lines);

/* ---- Plans, in a GPU's memory ---- */

/* A plan is everything but the addresses, checked once: for many copies of one layout on one device. Making one costs
 * about as much as one call of the function that it stands for; executing it costs a launch and the checks of the
 * addresses. Nothing changes a plan once made: threads may share it. */
typedef struct cornerturn_cuda_plan cornerturn_cuda_plan;

/* Make a plan for the current device. The arguments are those of the calls above. On success *plan is the caller's, to
 * be given to cornerturn_cuda_plan_destroy; on failure it is NULL. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create(cornerturn_cuda_plan** plan, int64_t rows, int64_t cols,
                                                                int64_t source_ld, int64_t destination_ld,
                                                                int64_t element_size);
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_batch(cornerturn_cuda_plan** plan, int64_t rows,
                                                                      int64_t cols, int64_t source_ld,
                                                                      int64_t source_stride, int64_t destination_ld,
                                                                      int64_t destination_stride, int64_t count,
                                                                      int64_t element_size);

CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_copy(cornerturn_cuda_plan** plan, int rank,
                                                                     const int64_t* extents,
                                                                     const int64_t* source_strides,
                                                                     const int64_t* destination_strides,
                                                                     int64_t element_size);
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_permutation(
    cornerturn_cuda_plan** plan, int rank, const int64_t* extents, const int64_t* source_strides, const int* axes,
    const int64_t* destination_strides, int64_t element_size);

/* Moves what lies at these addresses, as the function that the plan stands for would. The plan's device must be the
 * current one. */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_execute(const cornerturn_cuda_plan* plan, const void* source,
                                                                 void* destination, struct CUstream_st* stream);

/* Frees the plan, at once: work that it has launched goes on. NULL is no error. */
CORNERTURN_EXPORT void cornerturn_cuda_plan_destroy(cornerturn_cuda_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
