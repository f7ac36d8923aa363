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
    bool missing = false;  // the device has no memory pools
};

device_pool& pool_of(int device) {
    static std::array<device_pool, kDevices> all;
    check_known(device);
    return all[static_cast<std::size_t>(device)];
}

// Lets this thread ask about pools while it, or another thread, captures a graph. Such calls are no work of a stream.
class beside_captures {
public:
    beside_captures() { CORNERTURN_CUDA(cudaThreadExchangeStreamCaptureMode(&mode_)); }
    ~beside_captures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

bool lacks_memory(cudaError_t status) {
    if (status != cudaErrorMemoryAllocation && status != cudaErrorNotSupported) return false;
    cudaGetLastError();  // the caller reports this in another way, so clear the error
    return true;
}

// Null if there is no memory for a pool.
cudaMemPool_t made_pool(int device) {
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {.type = cudaMemLocationTypeDevice, .id = device};
    cudaMemPool_t pool = nullptr;
    const cudaError_t made = cudaMemPoolCreate(&pool, &wanted);
    if (lacks_memory(made)) return nullptr;
    CORNERTURN_CUDA(made);
    std::uint64_t keeps = std::numeric_limits<std::uint64_t>::max();
    int waits = 0;  // no: one stream would wait for another one
    cudaError_t set = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps);
    if (set == cudaSuccess) set = cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &waits);
    if (set != cudaSuccess) cudaMemPoolDestroy(pool);
    CORNERTURN_CUDA(set);
    return pool;
}

// Null if the device has no memory pools, or no memory for one.
cudaMemPool_t find_pool(int device) {
    device_pool& found = pool_of(device);
    const std::lock_guard lock(found.mutex);
    if (found.pool != nullptr || found.missing) return found.pool;
    const beside_captures allowed;
    int pools = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device));
    found.missing = pools == 0;
    if (!found.missing) found.pool = made_pool(device);
    return found.pool;
}

// Null if no pool was made yet.
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
    if (lacks_memory(status))
        memory_ = nullptr;
    else
        CORNERTURN_CUDA(status);
}

kept_memory::~kept_memory() {
    if (memory_ != nullptr && cudaFreeAsync(memory_, stream_) != cudaSuccess) cudaGetLastError();
}

std::int64_t kept_bytes(int device) {
    cudaMemPool_t const pool = known_pool(device);
    if (pool == nullptr) return 0;
    const beside_captures allowed;
    std::uint64_t bytes = 0;
    CORNERTURN_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    return static_cast<std::int64_t>(bytes);
}

void give_back_kept_memory(int device) {
    cudaMemPool_t const pool = known_pool(device);
    if (pool == nullptr) return;
    const beside_captures allowed;
    CORNERTURN_CUDA(cudaMemPoolTrimTo(pool, 0));
}

}  // namespace cornerturn::device
