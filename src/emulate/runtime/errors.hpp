// The runtime API's errors: the thread's last one, and those that stay until the device is reset.
#pragma once

#include <cuda_runtime_api.h>

#include <new>

namespace cornerturn::emulator {

// Notes an error as the calling thread's last one, and returns it. Success and cudaErrorNotReady are not noted.
cudaError_t fail(cudaError_t error);

// An error of a kernel's that spoils the context, such as an illegal address: all calls of the process return it from
// now on, as CUDA's do. The first one stays.
void set_sticky_error(cudaError_t error);
void clear_sticky_error();   // cudaDeviceReset
cudaError_t sticky_error();  // cudaSuccess: none

// The body of an API function: a sticky error comes first, any other is noted, and no exception leaves it.
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
