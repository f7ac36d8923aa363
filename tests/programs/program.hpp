// Shared by the test programs: a check of CUDA's return codes, arrays on the device, and a list of failures. Each
// program prints "ok" and returns 0, or prints its failures and returns 1.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_OK(call)                                                                                      \
    do {                                                                                                   \
        const cudaError_t status_of_call = (call);                                                         \
        if (status_of_call != cudaSuccess) {                                                               \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_of_call)); \
            std::exit(1);                                                                                  \
        }                                                                                                  \
    } while (0)

// A launch has failed, or its kernel has.
#define KERNEL_OK()                       \
    do {                                  \
        CUDA_OK(cudaGetLastError());      \
        CUDA_OK(cudaDeviceSynchronize()); \
    } while (0)

inline int& wrong_results() {
    static int count = 0;
    return count;
}

// Says where a result differs. Only the first few are printed.
#define EXPECT(condition, ...)                                              \
    do {                                                                    \
        if (!(condition) && wrong_results()++ < 20) {                       \
            std::printf("%s:%d: not %s; ", __FILE__, __LINE__, #condition); \
            std::printf(__VA_ARGS__);                                       \
            std::printf("\n");                                              \
        }                                                                   \
    } while (0)

inline int verdict() {
    if (wrong_results() == 0) {
        std::printf("ok\n");
        return 0;
    }
    std::printf("%d results are wrong\n", wrong_results());
    return 1;
}

// An array on the device. It starts with a pattern that no test expects.
template <class T>
class device_array {
public:
    explicit device_array(size_t elements) : elements_(elements) {
        CUDA_OK(cudaMalloc(reinterpret_cast<void**>(&data_), elements * sizeof(T)));
        CUDA_OK(cudaMemset(data_, 0xa5, elements * sizeof(T)));
    }
    explicit device_array(const std::vector<T>& values) : device_array(values.size()) {
        CUDA_OK(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device_array() { cudaFree(data_); }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;

    T* data() { return data_; }
    void fill(const T& value) {
        const std::vector<T> values(elements_, value);
        CUDA_OK(cudaMemcpy(data_, values.data(), elements_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    // Waits for the kernels before, and reports if one failed.
    std::vector<T> values() {
        KERNEL_OK();
        std::vector<T> result(elements_);
        CUDA_OK(cudaMemcpy(result.data(), data_, elements_ * sizeof(T), cudaMemcpyDeviceToHost));
        return result;
    }

private:
    T* data_ = nullptr;
    size_t elements_;
};
