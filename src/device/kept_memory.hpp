// Device memory for a call of the library, taken and given back in the order of a stream: a memory pool of each device
// that keeps what it has until it is told to give it up. (CUDA's own pool gives memory back to the system whenever a
// stream is waited for, and gets it anew, which takes longer than a small product.)
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::device {

class kept_memory {
public:
    // None where `bytes` is 0; where there is no memory, or the device has no pools, get() is null. In a stream that is
    // being captured the graph owns it. Throws cuda_error.
    kept_memory(std::int64_t bytes, cudaStream_t stream, int device);
    ~kept_memory();
    kept_memory(const kept_memory&) = delete;
    kept_memory& operator=(const kept_memory&) = delete;

    void* get() const { return memory_; }

private:
    void* memory_ = nullptr;
    cudaStream_t stream_;
};

// Bytes of the device that are kept, in use or not, and giving back those that are not in use. Throw cuda_error.
std::int64_t kept_bytes(int device);
void give_back_kept_memory(int device);

}  // namespace cornerturn::device
