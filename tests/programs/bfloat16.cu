// bfloat16: every pattern through every function of cuda_bf16.h.
#include <cuda_bf16.h>

#define NUMBER __nv_bfloat16
#define PAIR __nv_bfloat162
#define NAME(before, after) before##bfloat16##after
#define NAME_TWICE(before, between, after) before##bfloat16##between##bfloat16##after
constexpr int kMantissa = 7, kExponent = 8;

#include "small_floats.cuh"
