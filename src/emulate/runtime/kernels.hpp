// The program's kernels and device variables, for the rest of the runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cornerturn::emulator {

struct kernel_facts {
    std::string name;
    std::size_t static_shared_bytes = 0;
};
const kernel_facts* facts_of(const void* host_function);             // null: no kernel
std::vector<std::size_t> argument_bytes(const void* host_function);  // one for each parameter

// A __device__, __constant__ or __managed__ variable.
struct device_symbol {
    void* address = nullptr;
    std::size_t bytes = 0;
};
const device_symbol* symbol_of(const void* host_address);  // null: no device variable

struct device_variable {
    std::string name;
    std::uintptr_t begin;
    std::size_t bytes;
};
std::vector<device_variable> device_variables();

// functions.cpp: the most dynamic shared memory that a launch of the kernel may ask for.
std::size_t dynamic_shared_limit(const void* function);

// device.cpp: cudaLimitStackSize.
std::size_t stack_limit();

// The address of each argument, in the form that launches take.
std::vector<void*> addresses_of(std::vector<std::vector<std::byte>>& arguments);

struct launch_shape {
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    cudaStream_t stream = nullptr;
    bool cooperative = false;
};
// Runs the kernel to its end.
cudaError_t launch_kernel(const void* host_function, const launch_shape& shape, void** arguments);

}  // namespace cornerturn::emulator
