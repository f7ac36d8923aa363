// Checked calls of the CUDA runtime, and what launch() must know: its stream and device, and facts about the kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cornerturn::device {

// Throws cuda_error with the expression, its file and line, and CUDA's name and text of the error. Clears the error if
// CUDA can.
void check_cuda(cudaError_t status, const char* expression, const char* file, int line);

// Where launch() sends the calling thread's kernels. Unless set, this is the default stream.
struct launch_target {
    static constexpr int kAnyDevice = -1;

    cudaStream_t stream = nullptr;
    int device = kAnyDevice;  // the current device, if it is known
};
cudaStream_t current_stream();
// Later launches go to this stream, on the device that is current at the launch.
void set_current_stream(cudaStream_t stream);
// The device for launches. Asks CUDA for the current one, unless a stream_scope has set it.
int launch_device();

// Sets the stream, and restores the old one at the end. With a device, launches need not ask CUDA for it. That device
// must be the current one.
class stream_scope {
public:
    explicit stream_scope(cudaStream_t stream, int device = launch_target::kAnyDevice);
    ~stream_scope();
    stream_scope(const stream_scope&) = delete;
    stream_scope& operator=(const stream_scope&) = delete;

private:
    launch_target before_;
};

// Whether kernels launched by the calling thread may keep lines in the L2: see cornerturn/cuda/l2.hpp.
bool keeps_lines();
void set_keeps_lines(bool keeps);

// The functions below ask CUDA once for each kernel and device. The device must be the current one.

// Allows the kernel `bytes` of dynamic shared memory. `again`: tell CUDA even if it was told before.
void allow_dynamic_shared(const void* kernel, int bytes, int device, bool again = false);

// Whether wait_for_work_ahead() really waits in the kernel. It does if the code was compiled for Hopper or later, from
// PTX too. Otherwise the kernel must not be launched early.
bool waits_for_work_ahead(const void* kernel, int device);

// `bytes` as a percentage of a multiprocessor's largest shared memory on the device, rounded up, at most 100.
unsigned percent_of_shared(std::size_t bytes, int device);

}  // namespace cornerturn::device

#define CORNERTURN_CUDA(expression) ::cornerturn::device::check_cuda((expression), #expression, __FILE__, __LINE__)
