// Shared by the C++ examples: a check for a GPU, copies to the GPU and back, and errors that end the program. So each
// example shows only its own task.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

inline void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

// Copies the elements to the GPU's memory. Nobody frees it, because an example ends soon.
template <class T>
T* to_device(const std::vector<T>& elements) {
    T* data = nullptr;
    check(cudaMalloc(&data, elements.size() * sizeof(T)));
    check(cudaMemcpy(data, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice));
    return data;
}

// Copies elements back to the host. Waits for earlier work of the GPU.
template <class T>
std::vector<T> to_host(const T* data, std::int64_t count) {
    std::vector<T> elements(count);
    check(cudaMemcpy(elements.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return elements;
}

// Runs the example. Returns 0 if it returns true, and 77 (skipped, for ctest) if no GPU answers.
inline int run_example(bool (*example)()) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("skipped: no GPU answers");
        return 77;
    }
    try {
        const bool right = example();
        std::puts(right ? "transposed" : "wrong");
        return right ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
