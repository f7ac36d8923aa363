// Calls of the CUDA runtime that cannot fail unnoticed, and the stream that launches go to.
#pragma once

#include <cuda_runtime.h>

namespace cornerturn::device {

// Throws cuda_error with the expression, its place and CUDA's name and text of the error; clears it where CUDA can.
void check_cuda(cudaError_t status, const char* expression, const char* file, int line);

// The stream that launch() uses on the calling thread; the default stream unless set.
cudaStream_t current_stream();
void set_current_stream(cudaStream_t stream);

// Sets it, and sets it back.
class stream_scope {
public:
    explicit stream_scope(cudaStream_t stream) : before_(current_stream()) { set_current_stream(stream); }
    ~stream_scope() { set_current_stream(before_); }
    stream_scope(const stream_scope&) = delete;
    stream_scope& operator=(const stream_scope&) = delete;

private:
    cudaStream_t before_;
};

// Lets the kernel have so many bytes of dynamic shared memory on the current device. Asks CUDA once for each.
void allow_dynamic_shared(const void* kernel, int bytes);

// Whether wait_for_work_ahead() waits in the kernel on the current device: whether what runs there was compiled for
// Hopper or later, be it from PTX. If not, it must not be launched early. Asks CUDA once for each.
bool waits_for_work_ahead(const void* kernel);

// So many bytes of the most shared memory that a multiprocessor of the current device can have, rounded up, 100 at
// most.
unsigned percent_of_shared(std::size_t bytes);

}  // namespace cornerturn::device

#define CORNERTURN_CUDA(expression) ::cornerturn::device::check_cuda((expression), #expression, __FILE__, __LINE__)
