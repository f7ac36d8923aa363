// Errors of the runtime API: the last error of each thread, and the sticky error, which lasts until a device reset.
#pragma once

#include <cuda_runtime_api.h>

#include <new>

namespace cornerturn::emulator {

// Records the error as the calling thread's last one, and returns it. Ignores cudaSuccess and cudaErrorNotReady.
cudaError_t fail(cudaError_t error);

// An error that makes the context unusable, such as an illegal address in a kernel. As in CUDA, all calls of the
// process return it from now on. Later errors do not replace it.
void set_sticky_error(cudaError_t error);
void clear_sticky_error();   // cudaDeviceReset
cudaError_t sticky_error();  // cudaSuccess: none

// Runs the body of an API function unless there is a sticky error. Records errors, and lets no exception out.
template <class Body>
cudaError_t api_call(Body&& body) noexcept {
    if (const cudaError_t error = sticky_error()) return fail(error);
    try {
        return fail(body());
    } catch (const std::bad_alloc&) {
        return fail(cudaErrorMemoryAllocation);
    } catch (...) {
        return fail(cudaErrorUnknown);
    }
}

}  // namespace cornerturn::emulator
