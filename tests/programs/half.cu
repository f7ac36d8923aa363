// half: every pattern through every function of cuda_fp16.h.
#include <cuda_fp16.h>

#define NUMBER __half
#define PAIR __half2
#define NAME(before, after) before##half##after
#define NAME_TWICE(before, between, after) before##half##between##half##after
constexpr int kMantissa = 10, kExponent = 5;

#include "small_floats.cuh"
