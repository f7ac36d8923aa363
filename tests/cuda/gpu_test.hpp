// What the tests on a GPU share: their main, and CUDA objects that end with their scope.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "lab/run.hpp"

namespace cornerturn::tests {

// The cases that did not run, and why. run_on_gpus() prints them.
inline std::vector<std::string>& left_out() {
    static std::vector<std::string> all;
    return all;
}

// Makes an object that allocates about so many bytes of GPU memory. If fewer are free, returns null and leaves the case
// out.
template <class T, class... Arguments>
std::unique_ptr<T> made(const std::string& what, std::int64_t bytes, Arguments&&... arguments) {
    constexpr std::int64_t kMargin = 1 << 30;
    try {
        return std::make_unique<T>(std::forward<Arguments>(arguments)...);
    } catch (const cuda_error& why) {
        if (why.name() != "cudaErrorMemoryAllocation") throw;
        std::size_t free = 0, total = 0;
        CORNERTURN_CUDA(cudaMemGetInfo(&free, &total));
        if (static_cast<std::int64_t>(free) > bytes + kMargin) throw;
        left_out().push_back(what + ": needs " + std::to_string(bytes >> 20) + " MiB of GPU memory, and " +
                             std::to_string(free >> 20) + " MiB are free");
        return nullptr;
    }
}

// Runs the program's tests if there are at least `least` GPUs, and prints how often each kernel was launched. If there
// are fewer GPUs, or if a case was left out, it prints why and returns 77, which ctest counts as skipped.
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
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (test.result()->Skipped())
                left_out().push_back(std::string(test.name()) + ": " + test.result()->GetTestPartResult(0).message());
        }
    }
    for (const std::string& what : left_out()) std::printf("skipped: %s\n", what.c_str());
    return status == 0 && !left_out().empty() ? 77 : status;
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
