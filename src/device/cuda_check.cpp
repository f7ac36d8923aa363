#include "device/cuda_check.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cornerturn/error.hpp"
#include "device/cuda_device.hpp"

namespace cornerturn::device {
namespace {

thread_local launch_target target_of_thread;
thread_local bool thread_keeps_lines = true;

// Facts about a kernel on a device that CUDA was asked for or told.
struct known_kernel {
    int dynamic_shared = 0;  // the limit that CUDA was told, in bytes
    std::optional<bool> waits;
};

// Calls f with these facts. Only one thread at a time runs f.
template <class F>
auto with_known(const void* kernel, int device, F f) {
    static std::mutex mutex;
    static std::map<std::pair<const void*, int>, known_kernel> all;
    const std::lock_guard lock(mutex);
    return f(all[{kernel, device}]);
}

}  // namespace

void check_cuda(cudaError_t status, const char* expression, const char* file, int line) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw cuda_error(cudaGetErrorName(status),
                     std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status) + " (" + expression +
                         ", " + std::filesystem::path(file).filename().string() + ":" + std::to_string(line) + ")");
}

cudaStream_t current_stream() { return target_of_thread.stream; }
void set_current_stream(cudaStream_t stream) { target_of_thread = {stream}; }
int launch_device() {
    const int device = target_of_thread.device;
    return device == launch_target::kAnyDevice ? current_device() : device;
}

stream_scope::stream_scope(cudaStream_t stream, int device)
    : before_(std::exchange(target_of_thread, {stream, device})) {}
stream_scope::~stream_scope() { target_of_thread = before_; }

bool keeps_lines() { return thread_keeps_lines; }
void set_keeps_lines(bool keeps) { thread_keeps_lines = keeps; }

void allow_dynamic_shared(const void* kernel, int bytes, int device, bool again) {
    with_known(kernel, device, [&](known_kernel& known) {
        if (bytes <= known.dynamic_shared && !again) return;  // never lower the limit: another launch may need it
        bytes = std::max(bytes, known.dynamic_shared);
        CORNERTURN_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        known.dynamic_shared = bytes;
    });
}

bool waits_for_work_ahead(const void* kernel, int device) {
    return with_known(kernel, device, [&](known_kernel& known) {
        if (!known.waits) {
            cudaFuncAttributes found{};
            CORNERTURN_CUDA(cudaFuncGetAttributes(&found, kernel));
            known.waits = found.ptxVersion >= 90;
        }
        return *known.waits;
    });
}

unsigned percent_of_shared(std::size_t bytes, int device) {
    const auto all = static_cast<std::size_t>(shared_memory_of(device));
    return static_cast<unsigned>(bytes < all ? (bytes * 100 + all - 1) / all : 100);
}

}  // namespace cornerturn::device
