#include "device/kept_memory.hpp"

#include <array>
#include <limits>
#include <mutex>

#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"

namespace cornerturn::device {
namespace {

struct device_pool {
    std::mutex mutex;
    cudaMemPool_t pool = nullptr;
    bool missing = false;
};

device_pool& pool_of(int device) {
    static std::array<device_pool, kDevices> all;
    return all.at(static_cast<std::size_t>(device));
}

// Null where the device has no memory pools.
cudaMemPool_t made_pool(int device) {
    int pools = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device));
    if (pools == 0) return nullptr;
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {.type = cudaMemLocationTypeDevice, .id = device};
    cudaMemPool_t pool = nullptr;
    CORNERTURN_CUDA(cudaMemPoolCreate(&pool, &wanted));
    std::uint64_t keeps = std::numeric_limits<std::uint64_t>::max();
    CORNERTURN_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps));
    // Or one stream would wait for another one.
    int waits = 0;
    CORNERTURN_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &waits));
    return pool;
}

cudaMemPool_t find_pool(int device) {
    device_pool& found = pool_of(device);
    const std::lock_guard lock(found.mutex);
    if (found.pool == nullptr && !found.missing) {
        found.pool = made_pool(device);
        found.missing = found.pool == nullptr;
    }
    return found.pool;
}

// Whether there is a pool that somebody has made.
cudaMemPool_t known_pool(int device) {
    device_pool& found = pool_of(device);
    const std::lock_guard lock(found.mutex);
    return found.pool;
}

}  // namespace

kept_memory::kept_memory(std::int64_t bytes, cudaStream_t stream, int device) : stream_(stream) {
    if (bytes == 0) return;
    cudaMemPool_t const pool = find_pool(device);
    if (pool == nullptr) return;
    const cudaError_t status = cudaMallocFromPoolAsync(&memory_, static_cast<std::size_t>(bytes), pool, stream);
    if (status == cudaErrorMemoryAllocation || status == cudaErrorNotSupported) {
        cudaGetLastError();  // get() tells it: it is no error
        memory_ = nullptr;
        return;
    }
    CORNERTURN_CUDA(status);
}

kept_memory::~kept_memory() {
    if (memory_ != nullptr) cudaFreeAsync(memory_, stream_);
}

std::int64_t kept_bytes(int device) {
    cudaMemPool_t const pool = known_pool(device);
    if (pool == nullptr) return 0;
    std::uint64_t bytes = 0;
    CORNERTURN_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    return static_cast<std::int64_t>(bytes);
}

void give_back_kept_memory(int device) {
    if (cudaMemPool_t const pool = known_pool(device); pool != nullptr) CORNERTURN_CUDA(cudaMemPoolTrimTo(pool, 0));
}

}  // namespace cornerturn::device
