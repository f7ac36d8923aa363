// The verifier on the GPU: core/problem.hpp's host_problem with its matrices in device memory.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "core/problem.hpp"

namespace cornerturn::device {

// The first of `count` bytes that is not its guard's; -1 if all are. Waits for the stream.
std::int64_t broken_guard(const unsigned char* bytes, std::int64_t count, cudaStream_t stream);

// What check(wrong) notes, which launches on the stream. Waits for it.
wrong_positions find_wrong(const std::function<void(wrong_positions*)>& check, cudaStream_t stream);

// Device memory with guards on both sides, that begins where cudaMalloc puts large arrays: at a multiple of 2 MiB where
// it is as large. Throws cuda_error.
class guarded_device_buffer {
public:
    // All of its room is in use at first.
    explicit guarded_device_buffer(std::int64_t room);
    ~guarded_device_buffer();
    guarded_device_buffer(const guarded_device_buffer&) = delete;
    guarded_device_buffer& operator=(const guarded_device_buffer&) = delete;

    unsigned char* data() const { return allocation_ + lead_; }
    std::int64_t room() const { return room_; }
    std::int64_t size() const { return bytes_; }
    void use(std::int64_t bytes) { bytes_ = bytes; }  // at most its room; its guards are to be filled anew
    void fill_guards(cudaStream_t stream);
    std::string check_guards(const char* name, cudaStream_t stream) const;

private:
    static constexpr std::int64_t kLarge = 2 << 20;
    std::int64_t room_, bytes_, lead_;  // lead_: the first of the guards lies at its end
    unsigned char* allocation_ = nullptr;
};

// All calls are ordered after earlier work on the stream; check() waits for it.
class cuda_problem : public problem_memory<guarded_device_buffer> {
public:
    cuda_problem(const problem_shape& shape, cudaStream_t stream, const std::vector<problem_shape>& others = {})
        : problem_memory(shape, others), stream_(stream) {}

    std::int64_t room() const { return source_.room() + destination_.room(); }  // bytes

    void prepare();
    void prepare_destination();  // alone: poison, for another run on the same source; in place the matrices anew
    verdict check() const;

private:
    cudaStream_t stream_;
};

}  // namespace cornerturn::device
