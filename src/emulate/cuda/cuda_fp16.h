// CUDA's half: __half, __half2 and their functions.
#pragma once

#include <math.h>

#include "cornerturn_cuda/small_float_bits.h"
#include "vector_types.h"

#define CT_SMALL __half
#define CT_RAW __half_raw
#define CT_PAIR __half2
#define CT_PAIR_RAW __half2_raw
#define CT_FORMAT ct_half_format
#define CT_NAME(before, after) before##half##after
#define CT_NAME_TWICE(before, between, after) before##half##between##half##after
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define CT_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define CT_NO_OPERATORS
#endif
#if defined(__CUDA_NO_HALF_OPERATORS__) || defined(__CUDA_NO_HALF2_OPERATORS__)
#define CT_NO_PAIR_OPERATORS
#endif
#include "cornerturn_cuda/small_float.h"

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
