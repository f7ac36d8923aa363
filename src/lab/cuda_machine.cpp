#include "lab/cuda_machine.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <string_view>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {
namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// The driver's version, such as "580.65.06". If Linux does not report it, the newest CUDA that the driver supports.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 && word.find('.') != std::string::npos) return word;
    }
    int supports = 0;
    CORNERTURN_CUDA(cudaDriverGetVersion(&supports));
    return "for CUDA " + version(supports);
}

}  // namespace

bool cuda_available(std::string& reason) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return true;
    cudaGetLastError();
    reason = status == cudaSuccess ? "CUDA finds no device"
                                   : fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
    return false;
}

cuda_machine::cuda_machine() {
    std::string reason;
    if (!cuda_available(reason)) throw unsupported("no GPU to run on: " + reason);
    int device = 0, runtime = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    cudaDeviceProp properties;
    CORNERTURN_CUDA(cudaGetDeviceProperties(&properties, device));
    CORNERTURN_CUDA(cudaRuntimeGetVersion(&runtime));
    capability_ = properties.major * 10 + properties.minor;
    int kilohertz = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device));
    // CUDA programming guide, arithmetic instructions: results of an FP32 add or multiply-add in a clock cycle of a
    // multiprocessor.
    const int cores = capability_ == 75 || capability_ == 80 ? 64 : 128;
    fp32_flops_ = 2.0 * properties.multiProcessorCount * cores * kilohertz * 1e3;
    info_ = {.kind = "cuda", .name = properties.name, .driver = driver_version(), .cuda = version(runtime)};
}

double cuda_machine::peak_flops(const rate_unit& rate) const {
    return rate.arithmetic != nullptr && std::string_view(rate.arithmetic) == kFp32 ? fp32_flops_ : 0;
}

std::string cuda_machine::why_not_run(const kernel& k) const {
    if (k.facts.needs.compute_capability > capability_) {
        return fmt::format("needs {} (compute capability {}.{}), but {} has {}.{}", k.facts.needs.feature,
                           k.facts.needs.compute_capability / 10, k.facts.needs.compute_capability % 10, info_.name,
                           capability_ / 10, capability_ % 10);
    }
    return !k.is_built_for(backend::cuda) ? "is not a kernel for the GPU" : "";
}

std::string cuda_machine::memory_shortage(std::int64_t bytes) const {
    std::size_t free = 0, total = 0;
    CORNERTURN_CUDA(cudaMemGetInfo(&free, &total));
    if (bytes <= static_cast<std::int64_t>(free)) return {};
    return fmt::format("{} has {:.1f} GB of memory free, and this run needs {:.1f} GB", info_.name,
                       static_cast<double>(free) / 1e9, static_cast<double>(bytes) / 1e9);
}

}  // namespace cornerturn::lab
