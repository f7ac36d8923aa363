// CUDA's bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions.
#pragma once

#include <math.h>

#include "cornerturn_cuda/small_float_bits.h"
#include "vector_types.h"

#define CT_SMALL __nv_bfloat16
#define CT_RAW __nv_bfloat16_raw
#define CT_PAIR __nv_bfloat162
#define CT_PAIR_RAW __nv_bfloat162_raw
#define CT_FORMAT ct_bfloat16_format
#define CT_NAME(before, after) before##bfloat16##after
#define CT_NAME_TWICE(before, between, after) before##bfloat16##between##bfloat16##after
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define CT_NO_CONVERSIONS
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define CT_NO_OPERATORS
#endif
#if defined(__CUDA_NO_BFLOAT16_OPERATORS__) || defined(__CUDA_NO_BFLOAT162_OPERATORS__)
#define CT_NO_PAIR_OPERATORS
#endif
#include "cornerturn_cuda/small_float.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
