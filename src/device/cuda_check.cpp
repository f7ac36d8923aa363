#include "device/cuda_check.hpp"

#include <filesystem>
#include <string>

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

}  // namespace cornerturn::device
