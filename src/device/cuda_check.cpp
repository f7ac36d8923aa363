#include "device/cuda_check.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cornerturn/error.hpp"

namespace cornerturn::device {
namespace {
thread_local cudaStream_t stream_of_thread = nullptr;

// What has been asked of CUDA for a kernel on a device, or told it.
struct known_kernel {
    int dynamic_shared = 0;  // bytes that it may have
    std::optional<bool> waits;
};

// Calls f with what is known of the kernel on the current device; one call at a time.
template <class F>
void with_known(const void* kernel, F f) {
    static std::mutex mutex;
    static std::map<std::pair<const void*, int>, known_kernel> all;
    int device = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    const std::lock_guard lock(mutex);
    f(all[{kernel, device}]);
}

}  // namespace

void check_cuda(cudaError_t status, const char* expression, const char* file, int line) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw cuda_error(cudaGetErrorName(status),
                     std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status) + " (" + expression +
                         ", " + std::filesystem::path(file).filename().string() + ":" + std::to_string(line) + ")");
}

cudaStream_t current_stream() { return stream_of_thread; }
void set_current_stream(cudaStream_t stream) { stream_of_thread = stream; }

void allow_dynamic_shared(const void* kernel, int bytes) {
    with_known(kernel, [&](known_kernel& known) {
        if (bytes <= known.dynamic_shared) return;
        CORNERTURN_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        known.dynamic_shared = bytes;
    });
}

bool waits_for_work_ahead(const void* kernel) {
    bool waits = false;
    with_known(kernel, [&](known_kernel& known) {
        if (!known.waits) {
            cudaFuncAttributes found{};
            CORNERTURN_CUDA(cudaFuncGetAttributes(&found, kernel));
            known.waits = found.ptxVersion >= 90;
        }
        waits = *known.waits;
    });
    return waits;
}

unsigned percent_of_shared(std::size_t bytes) {
    int device = 0, most = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    const auto all = static_cast<std::size_t>(most);
    return static_cast<unsigned>(bytes < all ? (bytes * 100 + all - 1) / all : 100);
}

}  // namespace cornerturn::device
