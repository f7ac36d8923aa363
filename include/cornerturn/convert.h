/**
 * @file
 * The C interface of conversions: to another element type, scaled, in another order of axes, in one pass.
 *
 * @code{.c}
 * const int64_t extents[] = {64, 224, 224, 3};
 * const int axes[] = {0, 3, 1, 2};
 * cornerturn_conversion how = {.scale = {.kind = CORNERTURN_NUMBER, .number = 1 / 255.0}};
 * if (cornerturn_convert(4, extents, images, CORNERTURN_U8, NULL, axes, planes, CORNERTURN_F32, NULL, &how, 0)
 *     != CORNERTURN_OK) {
 *     fprintf(stderr, "%s\n", cornerturn_last_error());
 * }
 * @endcode
 *
 * cornerturn/convert.hpp says what a conversion does with each element. The rules of cornerturn/cornerturn.h for
 * tensors, threads, streams, alignment and errors hold. Elements may be at any address.
 */
#ifndef CORNERTURN_CONVERT_H
#define CORNERTURN_CONVERT_H

#include "cornerturn/cornerturn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The type of an element. */
typedef enum cornerturn_element
#if defined(__cplusplus) && __cplusplus >= 201103L
    : int /* so that a wrong number can be refused */
#endif
{ CORNERTURN_BOOL = 1, /**< One byte. Any byte but 0 is true. */
  CORNERTURN_U8,       /**< Unsigned integers of 8 bits, */
  CORNERTURN_U16,      /**< 16 bits, */
  CORNERTURN_U32,      /**< 32 bits, */
  CORNERTURN_U64,      /**< and 64 bits. */
  CORNERTURN_I8,       /**< Signed integers of 8 bits, */
  CORNERTURN_I16,      /**< 16 bits, */
  CORNERTURN_I32,      /**< 32 bits, */
  CORNERTURN_I64,      /**< and 64 bits. */
  CORNERTURN_F16,      /**< IEEE 754 binary16. */
  CORNERTURN_BF16,     /**< The upper half of an f32. */
  CORNERTURN_F32,      /**< IEEE 754 binary32. */
  CORNERTURN_F64,      /**< IEEE 754 binary64. */
  CORNERTURN_E4M3FN,   /**< OCP FP8 E4M3. */
  CORNERTURN_E5M2,     /**< OCP FP8 E5M2. */
  CORNERTURN_C64,      /**< Two f32: the real part, then the imaginary part. */
  CORNERTURN_C128      /**< The same of two f64. */
} cornerturn_element;

/** What the scales or the biases of a conversion are. */
typedef enum cornerturn_factors_kind
#if defined(__cplusplus) && __cplusplus >= 201103L
    : int /* so that a wrong number can be refused */
#endif
{ CORNERTURN_NONE = 0,        /**< There are none. */
  CORNERTURN_NUMBER = 1,      /**< One number, for all elements. */
  CORNERTURN_F32_NUMBERS = 2, /**< Numbers in memory, of type float. */
  CORNERTURN_F64_NUMBERS = 3  /**< Numbers in memory, of type double. */
} cornerturn_factors_kind;

/** The scales or the biases of a conversion. */
typedef struct cornerturn_factors {
    cornerturn_factors_kind kind; /**< What they are. */
    double number;                /**< The number, if it is one. */
    const void* data;             /**< The numbers in memory, where the tensors are. They are read with the source. */
    int64_t count;                /**< How many: the extent of the axis, or 1 for all elements. */
} cornerturn_factors;

/** How elements are converted: destination = cast(scale * source + bias). All zeros: without scale and bias. */
typedef struct cornerturn_conversion {
    cornerturn_factors scale; /**< What the source is multiplied by. */
    cornerturn_factors bias;  /**< What is added. */
    int axis;                 /**< The axis of the destination that the numbers in memory belong to. */
    int unsaturated;          /**< Not 0: what is out of range is not made the nearest number of the type. */
} cornerturn_conversion;

/**
 * Converts a tensor in host memory and permutes its axes. This function is in libcornerturn_host.
 * @param rank The number of axes.
 * @param extents The extents of the source.
 * @param source,destination The addresses of element (0, 0, ...) of both tensors.
 * @param source_type,destination_type The types of the elements.
 * @param source_strides,destination_strides The strides of both tensors, in elements, or NULL.
 * @param axes The permutation, an array of `rank` numbers, as for cornerturn_permute(); or NULL: the order stays.
 * @param how How elements are converted, or NULL: without scale and bias, and saturated.
 * @param threads The most threads to use, or 0, as cornerturn/cornerturn.h says.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_convert(int rank, const int64_t* extents, const void* source,
                                                       cornerturn_element source_type, const int64_t* source_strides,
                                                       const int* axes, void* destination,
                                                       cornerturn_element destination_type,
                                                       const int64_t* destination_strides,
                                                       const cornerturn_conversion* how, int threads);

/**
 * Converts a tensor in the memory of a GPU and permutes its axes. This function is in libcornerturn.
 * @param rank,extents,source,source_type,source_strides,axes,destination,destination_type,destination_strides,how See
 * cornerturn_convert(). Scales and biases in memory are in memory that the device can reach.
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_convert(
    int rank, const int64_t* extents, const void* source, cornerturn_element source_type, const int64_t* source_strides,
    const int* axes, void* destination, cornerturn_element destination_type, const int64_t* destination_strides,
    const cornerturn_conversion* how, struct CUstream_st* stream);

/**
 * The same for a caller that has checked the device and the addresses: it does not ask CUDA. See
 * cornerturn_cuda_copy_on().
 * @param device The number of the device, which is current. The stream belongs to it, and it can reach all addresses.
 * @param rank,extents,source,source_type,source_strides,axes,destination,destination_type,destination_strides,how See
 * cornerturn_convert().
 * @param stream The stream that orders the work.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_convert_on(
    int device, int rank, const int64_t* extents, const void* source, cornerturn_element source_type,
    const int64_t* source_strides, const int* axes, void* destination, cornerturn_element destination_type,
    const int64_t* destination_strides, const cornerturn_conversion* how, struct CUstream_st* stream);

/**
 * Says in one line which kernel cornerturn_cuda_convert() would run, how the tensor is cut into tiles, and the
 * predicted time.
 * @param rank,extents,source,source_type,source_strides,axes,destination,destination_type,destination_strides,how See
 * cornerturn_convert().
 * @param text Gets the line. A line that does not fit is cut off.
 * @param text_size The bytes of `text`, 1 or more. They include the NUL byte that ends the line.
 * @return #CORNERTURN_OK or the code of the error.
 */
CORNERTURN_EXPORT cornerturn_status cornerturn_cuda_explain_convert(
    int rank, const int64_t* extents, const void* source, cornerturn_element source_type, const int64_t* source_strides,
    const int* axes, const void* destination, cornerturn_element destination_type, const int64_t* destination_strides,
    const cornerturn_conversion* how, char* text, size_t text_size);

#ifdef __cplusplus
}
#endif

#endif
