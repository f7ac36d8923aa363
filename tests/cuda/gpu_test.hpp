// What the tests on a GPU share: their main, and CUDA objects that end with their scope.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "lab/run.hpp"

namespace cornerturn::tests {

// Runs the program's tests where there are so many GPUs, and prints how often each kernel was launched. Where there are
// fewer, none runs: it says so and returns 77, which ctest counts as skipped, as it does where one test was skipped.
inline int run_on_gpus(int argc, char** argv, int least, const std::map<std::string, int>& launches) {
    testing::InitGoogleTest(&argc, argv);
    std::string reason;
    int devices = 0;
    if (!lab::cuda_available(reason)) {
        std::printf("skipped: no GPU (%s)\n", reason.c_str());
        return 77;
    }
    CORNERTURN_CUDA(cudaGetDeviceCount(&devices));
    if (devices < least) {
        std::printf("skipped: needs %d GPUs, and there is %d\n", least, devices);
        return 77;
    }
    const int status = RUN_ALL_TESTS();
    for (const auto& [kernel, count] : launches) std::printf("%6d runs of %s\n", count, kernel.c_str());
    const int skipped = testing::UnitTest::GetInstance()->skipped_test_count();
    if (skipped > 0) std::printf("skipped: %d of these tests, for the reasons above\n", skipped);
    return status == 0 && skipped > 0 ? 77 : status;
}

// Device memory of so many Ts.
template <class T>
struct device_array {
    T* data = nullptr;
    explicit device_array(std::size_t count) { CORNERTURN_CUDA(cudaMalloc(&data, count * sizeof(T))); }
    ~device_array() { cudaFree(data); }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
};

struct stream_owner {
    cudaStream_t get = nullptr;
    stream_owner() { CORNERTURN_CUDA(cudaStreamCreateWithFlags(&get, cudaStreamNonBlocking)); }
    ~stream_owner() { cudaStreamDestroy(get); }
    stream_owner(const stream_owner&) = delete;
    stream_owner& operator=(const stream_owner&) = delete;
};

// What invalid_argument says that f() throws.
template <class F>
std::string refused(F f) {
    try {
        f();
    } catch (const invalid_argument& refusal) {
        return refusal.what();
    }
    return "was not refused";
}

}  // namespace cornerturn::tests
