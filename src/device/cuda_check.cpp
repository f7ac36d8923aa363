#include "device/cuda_check.hpp"

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cornerturn/error.hpp"

namespace cornerturn::device {
namespace {
thread_local cudaStream_t stream_of_thread = nullptr;
}

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
    static std::mutex mutex;
    static std::map<std::pair<const void*, int>, int> allowed;
    int device = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    const std::lock_guard lock(mutex);
    int& so_far = allowed[{kernel, device}];
    if (bytes <= so_far) return;
    CORNERTURN_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    so_far = bytes;
}

bool waits_for_work_ahead(const void* kernel) {
    enum answer : char { unknown, no, yes };
    static std::array<std::atomic<answer>, 64> known{};
    int device = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    if (device >= static_cast<int>(known.size())) return false;
    std::atomic<answer>& of_device = known[static_cast<std::size_t>(device)];
    if (of_device.load(std::memory_order_relaxed) == unknown) {
        cudaFuncAttributes found{};
        CORNERTURN_CUDA(cudaFuncGetAttributes(&found, kernel));
        of_device.store(found.ptxVersion >= 90 ? yes : no, std::memory_order_relaxed);
    }
    return of_device.load(std::memory_order_relaxed) == yes;
}

}  // namespace cornerturn::device
