// The verifier on the GPU: like host_problem of core/problem.hpp, but its matrices are in device memory.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "core/problem.hpp"

namespace cornerturn::device {

// The index of the first of `count` bytes that differs from its guard, or -1. Waits for the stream.
std::int64_t broken_guard(const unsigned char* bytes, std::int64_t count, cudaStream_t stream);

// What check(wrong) records. `check` launches kernels on the stream, and this waits for them.
wrong_positions find_wrong(const std::function<void(wrong_positions*)>& check, cudaStream_t stream);

// Device memory with guards on both sides. cudaMalloc puts arrays of 2 MiB and more at a multiple of 2 MiB; a buffer of
// this size begins there too. Throws cuda_error.
class guarded_device_buffer {
public:
    // At first, the whole capacity is in use.
    explicit guarded_device_buffer(std::int64_t capacity);
    ~guarded_device_buffer();
    guarded_device_buffer(const guarded_device_buffer&) = delete;
    guarded_device_buffer& operator=(const guarded_device_buffer&) = delete;

    unsigned char* data() const { return allocation_ + lead_; }
    std::int64_t capacity() const { return capacity_; }
    std::int64_t size() const { return bytes_; }
    void use(std::int64_t bytes) { bytes_ = bytes; }  // at most the capacity; fill the guards again afterwards
    void fill_guards(cudaStream_t stream);
    std::string check_guards(const char* name, cudaStream_t stream) const;

private:
    static constexpr std::int64_t kLarge = 2 << 20;
    std::int64_t capacity_, bytes_, lead_;  // lead_: bytes before the data; the first guard is at their end
    unsigned char* allocation_ = nullptr;
};

// All calls come after earlier work on the stream. check() waits for it.
class cuda_problem : public problem_memory<guarded_device_buffer> {
public:
    cuda_problem(const problem_shape& shape, cudaStream_t stream, const std::vector<problem_shape>& others = {})
        : problem_memory(shape, others), stream_(stream) {}

    std::int64_t capacity() const { return source_.capacity() + destination_.capacity(); }  // bytes

    void prepare();
    void prepare_destination();  // only the destination: poison, or in place the matrices again, for another run on the
                                 // same source
    verdict check() const;

private:
    cudaStream_t stream_;
};

}  // namespace cornerturn::device
