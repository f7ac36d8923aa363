// The switches of the profiler. The emulator ignores them.
#pragma once

#include "driver_types.h"

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
