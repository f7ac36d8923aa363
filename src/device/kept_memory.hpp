// Device memory for one call of the library, allocated and freed in the order of a stream. Each device has a memory
// pool that keeps its memory until it is told to give it back. CUDA's own pool gives memory back to the system whenever
// a stream is waited for. Allocating it again takes longer than a small product.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::device {

class kept_memory {
public:
    // Allocates nothing if `bytes` is 0. get() is null if there is no memory or the device has no pools. If the stream
    // is in capture, the graph owns the memory. Throws cuda_error.
    kept_memory(std::int64_t bytes, cudaStream_t stream, int device);
    ~kept_memory();
    kept_memory(const kept_memory&) = delete;
    kept_memory& operator=(const kept_memory&) = delete;

    void* get() const { return memory_; }

private:
    void* memory_ = nullptr;
    cudaStream_t stream_;
};

// Bytes that the pool of the device keeps, used or not; and giving back the unused ones. Both throw cuda_error.
std::int64_t kept_bytes(int device);
void give_back_kept_memory(int device);

}  // namespace cornerturn::device
