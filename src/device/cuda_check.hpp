// Calls of the CUDA runtime that cannot fail unnoticed, and what launch() has to know: where to, and of the kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cornerturn::device {

// Throws cuda_error with the expression, its file and line, and CUDA's name and text of the error; clears it where CUDA
// can.
void check_cuda(cudaError_t status, const char* expression, const char* file, int line);

// Where launch() sends kernels on the calling thread: to the default stream unless set.
struct launch_target {
    static constexpr int kAnyDevice = -1;

    cudaStream_t stream = nullptr;
    int device = kAnyDevice;  // the current one, where it is known
};
cudaStream_t current_stream();
// To a stream of whichever device is current when something is launched.
void set_current_stream(cudaStream_t stream);
// The device of launches: CUDA is asked for the current one, unless a stream_scope says it.
int launch_device();

// Sets the stream, and sets it back. With a device, which has to be the current one, no launch asks CUDA for it.
class stream_scope {
public:
    explicit stream_scope(cudaStream_t stream, int device = launch_target::kAnyDevice);
    ~stream_scope();
    stream_scope(const stream_scope&) = delete;
    stream_scope& operator=(const stream_scope&) = delete;

private:
    launch_target before_;
};

// Whether kernels that the calling thread launches may keep lines in the L2: cornerturn/cuda/l2.hpp.
bool keeps_lines();
void set_keeps_lines(bool keeps);

// What follows asks CUDA once for each kernel and device; the device has to be the current one.

// Lets the kernel have so many bytes of dynamic shared memory. `again`: even if CUDA was told before.
void allow_dynamic_shared(const void* kernel, int bytes, int device, bool again = false);

// Whether wait_for_work_ahead() waits in the kernel: whether what runs there was compiled for Hopper or later, be it
// from PTX. If not, it must not be launched early.
bool waits_for_work_ahead(const void* kernel, int device);

// So many bytes of the most shared memory that a multiprocessor of the device can have, rounded up, 100 at most.
unsigned percent_of_shared(std::size_t bytes, int device);

}  // namespace cornerturn::device

#define CORNERTURN_CUDA(expression) ::cornerturn::device::check_cuda((expression), #expression, __FILE__, __LINE__)
