// What calls of the library ask of a GPU, and check before they launch anything.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/gpu.hpp"

namespace cornerturn::device {

// Devices that the library knows, from 0 on.
inline constexpr int kDevices = 64;

// Throws unsupported where it is none of these.
void check_known(int device);

// Throw cuda_error.
int current_device();
// Asked of CUDA once for each device.
int compute_capability_of(int device);  // 90 for 9.0
int multiprocessors_of(int device);
int shared_memory_of(int device);  // bytes, of a multiprocessor
gpu gpu_of(int device);

// Throws invalid_argument where the stream is another device's.
void check_stream(cudaStream_t stream, int device);
// Throws invalid_argument where the device cannot reach what lies at the address: "<name><word> is ...".
void check_reachable(const char* name, const char* word, std::uintptr_t address, int device);

}  // namespace cornerturn::device
