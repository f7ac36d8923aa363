// What the library asks of a GPU and checks before it launches anything.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/gpu.hpp"

namespace cornerturn::device {

// The library knows devices 0 to kDevices - 1.
inline constexpr int kDevices = 64;

// Throws unsupported for any other device.
void check_known(int device);

// Throw cuda_error.
int current_device();
// CUDA is asked once for each device.
int compute_capability_of(int device);  // 90 for 9.0
int multiprocessors_of(int device);
int shared_memory_of(int device);  // of a multiprocessor, in bytes
gpu gpu_of(int device);

// Throws invalid_argument if the stream belongs to another device.
void check_stream(cudaStream_t stream, int device);
// Throws invalid_argument if the device cannot reach the memory at the address: "<name><word> is ...".
void check_reachable(const char* name, const char* word, std::uintptr_t address, int device);

}  // namespace cornerturn::device
