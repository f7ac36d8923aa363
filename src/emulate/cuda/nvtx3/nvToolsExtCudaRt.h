#pragma once

#include "../cuda_runtime_api.h"
#include "nvToolsExt.h"

inline void nvtxNameCudaDeviceA(int, const char*) {}
inline void nvtxNameCudaStreamA(cudaStream_t, const char*) {}
inline void nvtxNameCudaEventA(cudaEvent_t, const char*) {}

#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA
