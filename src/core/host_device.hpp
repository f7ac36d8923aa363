// Marks functions that host and device code share.
#pragma once

#if defined(__CUDACC__)
#define CORNERTURN_HOST_DEVICE __host__ __device__
#define CORNERTURN_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define CORNERTURN_HOST_DEVICE
// Always inlined: the emulator's kernels must not share a function with code that is not instrumented.
#define CORNERTURN_HOST_DEVICE_INLINE [[gnu::always_inline]] inline
#endif
