// Attributes of kernels, occupancy, and launches by function pointer.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "emulate/runtime/device.hpp"
#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/kernels.hpp"

namespace cornerturn::emulator {
namespace {

struct kernel_settings {
    std::optional<std::size_t> dynamic_shared;
    int carveout = cudaSharedmemCarveoutDefault;
};

std::mutex mutex;
std::map<const void*, kernel_settings>& all_settings() {
    static auto* const one = new std::map<const void*, kernel_settings>;
    return *one;
}

kernel_settings settings_of(const void* function) {
    const std::lock_guard lock(mutex);
    const auto found = all_settings().find(function);
    return found == all_settings().end() ? kernel_settings{} : found->second;
}

template <class Body>
cudaError_t with_kernel(const void* function, Body&& body) {
    return api_call([&] {
        const kernel_facts* const facts = facts_of(function);
        return facts ? body(*facts) : cudaErrorInvalidDeviceFunction;
    });
}

std::size_t rounded_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// Shared memory is allocated in units of 128 bytes. Each block also takes 1 KiB for the system.
std::size_t shared_of_block(const kernel_facts& facts, std::size_t dynamic) {
    return rounded_up(facts.static_shared_bytes + dynamic, 128) + kReservedShared;
}

// The resident blocks of a multiprocessor. The limits are its threads (counted in whole warps), its shared memory, and
// 32 blocks. The emulator does not know the registers, so a real GPU may hold fewer blocks.
int resident_blocks(const void* function, const kernel_facts& facts, int threads, std::size_t dynamic) {
    if (threads > kMaxBlockThreads || dynamic > dynamic_shared_limit(function)) return 0;
    const int block_threads = static_cast<int>(rounded_up(static_cast<std::size_t>(threads), kWarpThreads));
    const auto by_shared = static_cast<int>(kMultiprocessorShared / shared_of_block(facts, dynamic));
    return std::min({kMultiprocessorThreads / block_threads, by_shared, kMultiprocessorBlocks});
}

cudaError_t available_shared(std::size_t* result, const kernel_facts& facts, const void* function, int blocks,
                             int threads) {
    if (!result || blocks <= 0 || threads <= 0 || blocks > resident_blocks(function, facts, threads, 0)) {
        return cudaErrorInvalidValue;
    }
    // An H200 does not subtract the system's 1 KiB per block here.
    const std::size_t each = kMultiprocessorShared / static_cast<std::size_t>(blocks) / 128 * 128;
    *result = std::min(each - std::min(each, facts.static_shared_bytes), dynamic_shared_limit(function));
    return cudaSuccess;
}

// All blocks of a cooperative launch must fit on the device at the same time.
cudaError_t launch_in_stream(const void* function, const launch_shape& shape, void** arguments) {
    return with_kernel(function, [&](const kernel_facts& facts) {
        const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z,
                            threads = std::uint64_t{shape.block.x} * shape.block.y * shape.block.z;
        if (shape.cooperative && threads > 0 && threads <= kMaxBlockThreads) {
            const int each = resident_blocks(function, facts, static_cast<int>(threads), shape.shared_bytes);
            if (blocks > static_cast<std::uint64_t>(each) * kMultiprocessors) return cudaErrorCooperativeLaunchTooLarge;
        }
        return capture_or_do(
            shape.stream, [&] { return submit_launch(function, shape, arguments); },
            [&] { return launch_kernel(function, shape, arguments); });
    });
}

}  // namespace

std::size_t dynamic_shared_limit(const void* function) {
    if (const auto asked = settings_of(function).dynamic_shared) return *asked;  // may be less than the default
    const kernel_facts* const facts = facts_of(function);
    return kBlockShared - std::min(kBlockShared, facts ? facts->static_shared_bytes : 0);
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, const void* func) {
    return with_kernel(func, [&](const kernel_facts& facts) {
        if (!attr) return cudaErrorInvalidValue;
        *attr = {};  // the emulator does not know the constant and local memory
        attr->sharedSizeBytes = facts.static_shared_bytes;
        attr->maxThreadsPerBlock = kMaxBlockThreads;
        attr->numRegs = 32;  // the emulator does not know it: 32 is the most that never limits the occupancy
        attr->ptxVersion = 90;
        attr->binaryVersion = 90;
        attr->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(func));
        attr->preferredShmemCarveout = settings_of(func).carveout;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value) {
    return with_kernel(func, [&](const kernel_facts& facts) {
        switch (attr) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize: {
                if (value < 0) return cudaErrorInvalidValue;
                const auto bytes = static_cast<std::size_t>(value);
                if (bytes > kBlockSharedOptin - std::min(kBlockSharedOptin, facts.static_shared_bytes)) {
                    return cudaErrorInvalidValue;
                }
                const std::lock_guard lock(mutex);
                all_settings()[func].dynamic_shared = bytes;
                return cudaSuccess;
            }
            case cudaFuncAttributePreferredSharedMemoryCarveout: {
                if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) {
                    return cudaErrorInvalidValue;
                }
                const std::lock_guard lock(mutex);
                all_settings()[func].carveout = value;
                return cudaSuccess;
            }
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
            case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess;
            case cudaFuncAttributeClusterDimMustBeSet:
            case cudaFuncAttributeRequiredClusterWidth:
            case cudaFuncAttributeRequiredClusterHeight:
            case cudaFuncAttributeRequiredClusterDepth: return cudaErrorNotSupported;
            default: return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache cacheConfig) {
    return with_kernel(func, [&](const kernel_facts&) {
        const bool known = cacheConfig >= cudaFuncCachePreferNone && cacheConfig <= cudaFuncCachePreferEqual;
        return known ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* func, enum cudaSharedMemConfig) {
    return with_kernel(func, [](const kernel_facts&) { return cudaSuccess; });
}

cudaError_t cudaFuncGetName(const char** name, const void* func) {
    return with_kernel(func, [&](const kernel_facts& facts) {
        if (!name) return cudaErrorInvalidValue;
        *name = facts.name.c_str();
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                          size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                  cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags) {
    return with_kernel(func, [&](const kernel_facts& facts) {
        if (!numBlocks || blockSize <= 0 || flags > cudaOccupancyDisableCachingOverride) return cudaErrorInvalidValue;
        *numBlocks = resident_blocks(func, facts, blockSize, dynamicSMemSize);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func, int numBlocks,
                                                      int blockSize) {
    return with_kernel(func, [&](const kernel_facts& facts) {
        return available_shared(dynamicSmemSize, facts, func, numBlocks, blockSize);
    });
}

// The emulator has no clusters.
cudaError_t cudaOccupancyMaxPotentialClusterSize(int*, const void*, const cudaLaunchConfig_t*) {
    return ct_not_supported();
}
cudaError_t cudaOccupancyMaxActiveClusters(int*, const void*, const cudaLaunchConfig_t*) { return ct_not_supported(); }

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
    return launch_in_stream(func, {gridDim, blockDim, sharedMem, stream, false}, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                        cudaStream_t stream) {
    return launch_in_stream(func, {gridDim, blockDim, sharedMem, stream, true}, args);
}

// Attributes that only change the speed are ignored. Clusters are not supported.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
    if (!config || (config->numAttrs && !config->attrs)) return fail(cudaErrorInvalidValue);
    launch_shape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, false};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const cudaLaunchAttribute& one = config->attrs[i];
        const auto& cluster = one.val.clusterDim;
        if (one.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
            return ct_not_supported();
        if (one.id == cudaLaunchAttributeCooperative) shape.cooperative = one.val.cooperative != 0;
    }
    return launch_in_stream(func, shape, args);
}

}  // extern "C"
