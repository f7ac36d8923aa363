// Device memory that is freed at the end of its scope.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda_check.hpp"

namespace cornerturn::device {

// Throws cuda_error if the allocation fails.
struct device_memory {
    void* get = nullptr;
    explicit device_memory(std::int64_t bytes) { CORNERTURN_CUDA(cudaMalloc(&get, static_cast<std::size_t>(bytes))); }
    ~device_memory() { cudaFree(get); }
    device_memory(const device_memory&) = delete;
    device_memory& operator=(const device_memory&) = delete;
};

}  // namespace cornerturn::device
