/**
 * @file
 * The C interface: transposes of matrices, copies and permutations of tensors, in host memory and in the memory of a
 * GPU.
 *
 * It serves C99 or later, C++, and any other language that can call C functions. It needs no header of CUDA.
 *
 * @code{.c}
 * if (cornerturn_transpose(in, rows, cols, cols, out, rows, sizeof(float), 0) != CORNERTURN_OK) {
 *     fprintf(stderr, "%s\n", cornerturn_last_error());
 * }
 * @endcode
 *
 * The library libcornerturn_host has the functions for host memory. The library libcornerturn has the functions for the
 * memory of a GPU, whose names begin with `cornerturn_cuda_`. Both have the functions for messages and the version.
 * They do the same as the C++ functions of cornerturn/transpose.hpp, cornerturn/copy.hpp,
 * cornerturn/cuda/transpose.hpp, cornerturn/cuda/copy.hpp and cornerturn/cuda/l2.hpp, but return codes and throw no
 * exceptions.
 *
 * These rules hold for all functions:
 * - **Matrices** are row-major: element (row, col) is at offset `row * ld + col`. Sizes, leading dimensions (ld),
 *   strides and offsets count elements, not bytes.
 * - **Padding**: the ld - cols elements after each row are never written, and their values do not matter.
 * - **Column-major matrices** (Fortran, BLAS): a column-major m x n matrix is the row-major n x m matrix with the same
 *   leading dimension. Pass its columns as rows, and its rows as cols.
 * - **Effect** of a transpose: destination(col, row) = source(row, col) for every element, bit for bit.
 * - **Elements** have `element_size` bytes, 1 to 2147483647. Sizes 1, 2, 4, 8 and 16 are fast. All bytes of an element
 *   are moved, those between the members of a struct too.
 * - **Aliasing**: source and destination share no element. There is one exception: a transpose works in place if both
 *   have the same address and leading dimension (and stride, in a batch), and rows == cols.
 * - **Alignment**: addresses need none. It affects the speed only.
 * - **Empty** matrices, batches and tensors (a size of 0) are no error. The call does nothing, and the addresses may be
 *   NULL.
 * - **Errors** are found before anything is written or launched, with one exception: working memory that runs out in
 *   a call on host memory (below). The call returns a code, and cornerturn_last_error() has the sentence. No call
 *   prints, exits or throws.
 * - **Threads**: any number may call at once.
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

/** The type that cudaStream_t points to. */
struct CUstream_st;

/** What a call returns. */
typedef enum cornerturn_status {
    CORNERTURN_OK = 0,                 /**< The call succeeded. */
    CORNERTURN_INVALID_ARGUMENT = 1,   /**< The call can never be done. The message names the argument and its value. */
    CORNERTURN_UNSUPPORTED = 2,        /**< The call is valid, but this machine or the library cannot do it. */
    CORNERTURN_CUDA_ERROR = 3,         /**< A CUDA call failed. The message begins with CUDA's name of the error. */
    CORNERTURN_INTERNAL_ERROR = 4,     /**< Anything else. */
    CORNERTURN_OUT_OF_HOST_MEMORY = 5, /**< The call needed more host memory than there is. */
    CORNERTURN_OUT_OF_DEVICE_MEMORY = 6 /**< CUDA had too little memory: cudaErrorMemoryAllocation. */
} cornerturn_status;

/**
 * @name Messages and version
 * These functions cannot fail.
 * @{
 */

/**
 * Says why the last failed call of the calling thread failed.
 * @return One sentence, of at most 1023 bytes. It is "" if no call of this thread has failed yet, and never NULL. It is
 * valid until the next call of this thread fails, or until the thread ends.
 */
CORNERTURN_EXPORT const char* cornerturn_last_error(void);

/**
 * Names a code.
 * @param status The code.
 * @return The name without its prefix, in lower case, such as "ok", "invalid_argument" or "out_of_host_memory";
 * "unknown" for a value that this version does not have.
 */
CORNERTURN_EXPORT const char* cornerturn_status_name(cornerturn_status status);

/**
 * The version of the library as a number. It may be newer than the version of this header, #CORNERTURN_VERSION_NUMBER.
 * @return 300 for version 0.3.0.
 */
CORNERTURN_EXPORT int cornerturn_version_number(void);

/**
 * The version of the library as text.
 * @return Text such as "0.3.0".
 */
CORNERTURN_EXPORT const char* cornerturn_version_string(void);

/** @} */

/**
 * @name Host memory: transposes
 * These functions are in libcornerturn_host. The work is done when the call returns. At most `threads` threads do it,
 * the calling thread among them. With 0, as many as the caller's oneTBB arena has, or as there are cores. A negative
 * number is an error. If working memory runs out, the call returns #CORNERTURN_OUT_OF_HOST_MEMORY, and part of the
 * destination may have been written.
 * @{
 */

/**
 * Transposes one matrix.
 * @param source,destination The addresses of both matrices.
 * @param rows The rows of the source, and columns of the destination.
 * @param cols The columns of the source, and rows of the destination.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param element_size The bytes of an element.
 * @param threads The most threads to use, or 0, as said above.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose(const void* source, int64_t rows, int64_t cols,
                                                         int64_t source_ld, void* destination, int64_t destination_ld,
                                                         int64_t element_size, int threads);

/**
 * Transposes a batch of matrices of one shape.
 *
 * Batch element i of the source begins at offset i * source_stride, and that of the destination at offset
 * i * destination_stride. The batch elements lie in one of two ways:
 * - one after the other: stride >= (rows - 1) * ld + cols;
 * - side by side in the rows of a larger matrix: stride >= cols and ld >= (count - 1) * stride + cols.
 *
 * For each side, use its own rows and cols. The library refuses a destination that satisfies neither.
 * @param source,destination The addresses of batch element 0 of both sides.
 * @param rows The rows of each source matrix.
 * @param cols The columns of each source matrix.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param source_stride,destination_stride The elements from one matrix to the next.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param count The number of matrices.
 * @param element_size The bytes of an element.
 * @param threads The most threads to use, or 0, as said above.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose_batch(const void* source, int64_t rows, int64_t cols,
                                                               int64_t source_ld, int64_t source_stride,
                                                               void* destination, int64_t destination_ld,
                                                               int64_t destination_stride, int64_t count,
                                                               int64_t element_size, int threads);

/**
 * Transposes a square matrix in place.
 *
 * For a batch, call cornerturn_transpose_batch() with the same address, leading dimension and stride for both sides.
 * @param matrix The address of the matrix.
 * @param n The rows, and columns, of the matrix.
 * @param ld The leading dimension, n or more.
 * @param element_size The bytes of an element.
 * @param threads The most threads to use, or 0, as said above.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_transpose_in_place(void* matrix, int64_t n, int64_t ld,
                                                                  int64_t element_size, int threads);

/** @} */

/**
 * @name Host memory: copies between tensors
 * These functions are in libcornerturn_host. They use threads and working memory as the transposes do.
 *
 * A tensor has `rank` axes, 0 to 32. Extents and strides are arrays of `rank` numbers, one for each axis. They count
 * elements: element (i, j, ...) is at offset i * strides[0] + j * strides[1] + ... . Strides may have any sign. NULL in
 * place of strides means row-major without gaps.
 *
 * The source may repeat elements: a stride may be 0, and axes may overlap. The elements of the destination must be
 * distinct, or the call returns #CORNERTURN_INVALID_ARGUMENT. They are distinct if, with the axes sorted by stride,
 * each stride is larger than the span of all axes with smaller strides. The library also works it out if just two axes
 * interleave. If it cannot tell, it returns #CORNERTURN_UNSUPPORTED.
 *
 * Source and destination share no element. Bytes between the elements of the destination are never written. Bytes
 * beside the elements of the source may be read; their values do not matter.
 * @{
 */

/**
 * Copies a tensor: destination(i, j, ...) = source(i, j, ...) for every element, bit for bit.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param threads The most threads to use, or 0, as said above.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_copy(int rank, const int64_t* extents, const void* source,
                                                    const int64_t* source_strides, void* destination,
                                                    const int64_t* destination_strides, int64_t element_size,
                                                    int threads);

/**
 * Permutes the axes of a tensor, as numpy.transpose does: axis k of the destination is axis axes[k] of the source.
 * @param rank The number of axes.
 * @param extents The extents of the source.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param axes The permutation, an array of `rank` numbers. A negative axis counts from the end.
 * @param element_size The bytes of an element.
 * @param threads The most threads to use, or 0, as said above.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_permute(int rank, const int64_t* extents, const void* source,
                                                       const int64_t* source_strides, const int* axes,
                                                       void* destination, const int64_t* destination_strides,
                                                       int64_t element_size, int threads);

/**
 * Says in one line how cornerturn_copy() would copy on all cores, and why. It reads and writes no element.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param text Gets the line. A line that does not fit is cut off.
 * @param text_size The bytes of `text`, 1 or more. They include the NUL byte that ends the line.
 * @return #CORNERTURN_OK or the code of the error. The errors are those of cornerturn_copy(), and
 * #CORNERTURN_INVALID_ARGUMENT if `text` is NULL or text_size is 0.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_explain_copy(int rank, const int64_t* extents, const void* source,
                                                            const int64_t* source_strides, const void* destination,
                                                            const int64_t* destination_strides, int64_t element_size,
                                                            char* text, size_t text_size);

/** @} */

/**
 * @name Memory of a GPU: transposes
 * These functions are in libcornerturn. These rules hold for them and for all functions below:
 * - **Where**: the matrices lie in memory of the current device, or in memory that CUDA allocated for host and device
 *   (pinned, managed). They must stay there until the work is done. The stream belongs to the current device.
 * - **Stream**: a cudaStream_t or CUstream; NULL is the default stream. The work is ordered in it as a kernel launch
 *   is, and a CUDA graph can capture it. No call waits for the work, and none allocates device memory. From Hopper on,
 *   a kernel may start while the kernel before it ends; cornerturn/cuda/transpose.hpp says more.
 * - **Errors** that a kernel meets later appear at the next call that waits for the stream, as always in CUDA.
 * - **Threads**: any number may call at once, on one stream, plan and device or on several.
 * @{
 */

/**
 * Transposes one matrix in the memory of a GPU.
 * @param source,destination The addresses of both matrices.
 * @param rows The rows of the source, and columns of the destination.
 * @param cols The columns of the source, and rows of the destination.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose(const void* source, int64_t rows, int64_t cols,
                                                              int64_t source_ld, void* destination,
                                                              int64_t destination_ld, int64_t element_size,
                                                              struct CUstream_st* stream);

/**
 * Transposes a batch of matrices of one shape in the memory of a GPU. The rules for strides are those of
 * cornerturn_transpose_batch().
 * @param source,destination The addresses of batch element 0 of both sides.
 * @param rows The rows of each source matrix.
 * @param cols The columns of each source matrix.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param source_stride,destination_stride The elements from one matrix to the next.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param count The number of matrices.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose_batch(const void* source, int64_t rows, int64_t cols,
                                                                    int64_t source_ld, int64_t source_stride,
                                                                    void* destination, int64_t destination_ld,
                                                                    int64_t destination_stride, int64_t count,
                                                                    int64_t element_size, struct CUstream_st* stream);

/**
 * Transposes a square matrix in the memory of a GPU, in place.
 *
 * For a batch, call cornerturn_cuda_transpose_batch() with the same address, leading dimension and stride for both
 * sides.
 * @param matrix The address of the matrix.
 * @param n The rows, and columns, of the matrix.
 * @param ld The leading dimension, n or more.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_transpose_in_place(void* matrix, int64_t n, int64_t ld,
                                                                       int64_t element_size,
                                                                       struct CUstream_st* stream);

/** @} */

/**
 * @name Memory of a GPU: copies between tensors
 * The rules for tensors are those of cornerturn_copy(). The rules for streams, memory and threads are those of the
 * transposes above.
 * @{
 */

/**
 * Copies a tensor in the memory of a GPU, as cornerturn_copy() does in host memory.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_copy(int rank, const int64_t* extents, const void* source,
                                                         const int64_t* source_strides, void* destination,
                                                         const int64_t* destination_strides, int64_t element_size,
                                                         struct CUstream_st* stream);

/**
 * Permutes the axes of a tensor in the memory of a GPU, as cornerturn_permute() does in host memory.
 * @param rank The number of axes.
 * @param extents The extents of the source.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param axes The permutation, an array of `rank` numbers. A negative axis counts from the end.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_permute(int rank, const int64_t* extents, const void* source,
                                                            const int64_t* source_strides, const int* axes,
                                                            void* destination, const int64_t* destination_strides,
                                                            int64_t element_size, struct CUstream_st* stream);

/**
 * Copies a tensor as cornerturn_cuda_copy() does, but does not ask CUDA about the device, the stream and the addresses.
 * Without these questions, and with two smaller changes, a call from Python takes 0.15 us less
 * (docs/experiments/python.md, experiment 112).
 *
 * The caller guarantees that `device` is the current device, that the stream belongs to it, and that the device can
 * reach both addresses. Otherwise CUDA reports an error at the launch or at the next call that waits for the stream. An
 * illegal address ends the CUDA context.
 * @param device The number of the current device.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_copy_on(int device, int rank, const int64_t* extents,
                                                            const void* source, const int64_t* source_strides,
                                                            void* destination, const int64_t* destination_strides,
                                                            int64_t element_size, struct CUstream_st* stream);

/**
 * Says in one line which kernel cornerturn_cuda_copy() would launch on the current device, and its predicted time. It
 * reads and writes no element.
 *
 * It does not check whether source and destination overlap.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param text Gets the line. A line that does not fit is cut off.
 * @param text_size The bytes of `text`, 1 or more. They include the NUL byte that ends the line.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_explain_copy(int rank, const int64_t* extents, const void* source,
                                                                 const int64_t* source_strides, const void* destination,
                                                                 const int64_t* destination_strides,
                                                                 int64_t element_size, char* text, size_t text_size);

/** @} */

/**
 * @name The L2 cache of a GPU
 * @{
 */

/** What transposes, copies and permutations leave in the L2 cache of a GPU. */
typedef enum cornerturn_l2_lines {
    CORNERTURN_L2_KEPT = 0,    /**< About 16 MiB of the moved data are evicted last. This is the default. */
    CORNERTURN_L2_ORDINARY = 1 /**< Lines are evicted like any others. */
} cornerturn_l2_lines;

/**
 * Chooses what stays in the L2 cache, for all later calls of the calling thread on any device. Plans follow the choice
 * of the thread that executes them.
 *
 * Work that has been launched or captured does not change. cornerturn/cuda/l2.hpp says which choice is faster when.
 * @param lines The choice.
 * @return #CORNERTURN_OK, or #CORNERTURN_INVALID_ARGUMENT for any other value of `lines`.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_set_l2_lines(cornerturn_l2_lines lines);

/** @} */

/**
 * @name Plans, for the memory of a GPU
 * A plan serves many transposes, copies or permutations of one layout on one device. It holds all arguments
 * but the addresses. The library checks them once, when the plan is made.
 *
 * Making a plan costs about as much as one call of the function that it replaces. Executing it costs the checks of the
 * addresses and a launch. Nothing changes a plan after it is made, so threads may share it.
 *
 * Each `create` function makes a plan for the current device. On success `*plan` belongs to the caller, who gives it to
 * cornerturn_cuda_plan_destroy(). On failure `*plan` is NULL.
 * @{
 */

/** A plan. Its contents are private to the library. */
typedef struct cornerturn_cuda_plan cornerturn_cuda_plan;

/**
 * Makes a plan for cornerturn_cuda_transpose().
 * @param plan Gets the plan.
 * @param rows The rows of the source, and columns of the destination.
 * @param cols The columns of the source, and rows of the destination.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param element_size The bytes of an element.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create(cornerturn_cuda_plan** plan, int64_t rows, int64_t cols,
                                                                int64_t source_ld, int64_t destination_ld,
                                                                int64_t element_size);

/**
 * Makes a plan for cornerturn_cuda_transpose_batch().
 * @param plan Gets the plan.
 * @param rows The rows of each source matrix.
 * @param cols The columns of each source matrix.
 * @param source_ld The leading dimension of the source, cols or more.
 * @param source_stride,destination_stride The elements from one matrix to the next.
 * @param destination_ld The leading dimension of the destination, rows or more.
 * @param count The number of matrices.
 * @param element_size The bytes of an element.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_batch(cornerturn_cuda_plan** plan, int64_t rows,
                                                                      int64_t cols, int64_t source_ld,
                                                                      int64_t source_stride, int64_t destination_ld,
                                                                      int64_t destination_stride, int64_t count,
                                                                      int64_t element_size);

/**
 * Makes a plan for cornerturn_cuda_copy().
 * @param plan Gets the plan.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_copy(cornerturn_cuda_plan** plan, int rank,
                                                                     const int64_t* extents,
                                                                     const int64_t* source_strides,
                                                                     const int64_t* destination_strides,
                                                                     int64_t element_size);

/**
 * Makes a plan for cornerturn_cuda_copy(), and times the kernels that can make the copy. All later calls on this layout
 * take the fastest, until the process ends: see cornerturn::cuda::choice. The call overwrites the destination, and
 * waits for the stream.
 * @param plan Gets the plan.
 * @param rank The number of axes.
 * @param extents The extents of both tensors.
 * @param source The address of the source's first element. If it or the destination is NULL, the call uses memory of
 * its own.
 * @param destination The address of the destination's first element.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param element_size The bytes of an element.
 * @param stream The stream that orders the work. It must not be in capture.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_measured(
    cornerturn_cuda_plan** plan, int rank, const int64_t* extents, const void* source, const int64_t* source_strides,
    void* destination, const int64_t* destination_strides, int64_t element_size, struct CUstream_st* stream);

/**
 * Writes all choices that were measured in this process to a file, as text.
 * @param file The path of the file, which is replaced.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_save_choices(const char* file);

/**
 * Adds the choices of such a file to those of this process.
 * @param file The path of the file.
 * @param count Gets the number of choices that were added, unless it is NULL.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_load_choices(const char* file, int* count);

/**
 * Makes a plan for cornerturn_cuda_permute().
 * @param plan Gets the plan.
 * @param rank The number of axes.
 * @param extents The extents of the source.
 * @param source_strides,destination_strides The strides of both tensors, or NULL.
 * @param axes The permutation, an array of `rank` numbers. A negative axis counts from the end.
 * @param element_size The bytes of an element.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_create_permutation(
    cornerturn_cuda_plan** plan, int rank, const int64_t* extents, const int64_t* source_strides, const int* axes,
    const int64_t* destination_strides, int64_t element_size);

/**
 * Transposes, copies or permutes the elements at these addresses, as the plan says.
 * @param plan The plan. Its device must be the current device.
 * @param source,destination The addresses of both matrices or tensors.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_plan_execute(const cornerturn_cuda_plan* plan, const void* source,
                                                                 void* destination, struct CUstream_st* stream);

/**
 * Frees a plan at once. Work that it has launched goes on.
 * @param plan The plan, or NULL.
 */
CORNERTURN_EXPORT void cornerturn_cuda_plan_destroy(cornerturn_cuda_plan* plan);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
