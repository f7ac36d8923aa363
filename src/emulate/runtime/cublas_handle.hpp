// The cuBLAS handle, and the checks with which every cuBLAS function begins.
#pragma once

#include <cublas_api.h>

#include <cstdint>
#include <new>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/handles.hpp"
#include "emulate/runtime/memory.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;  // stored, but unused: products are computed in full precision
};

namespace cornerturn::emulator {

handles<cublasContext>& cublas_handles();

// A call that only reads or changes the handle.
template <class Body>
cublasStatus_t cublas_setting(cublasHandle_t handle, Body&& body) noexcept {
    if (!cublas_handles().has(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (sticky_error()) return CUBLAS_STATUS_EXECUTION_FAILED;
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return CUBLAS_STATUS_ALLOC_FAILED;
    } catch (...) {
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

// A call that works in the handle's stream. It runs at once, so it cannot be captured into a graph.
template <class Body>
cublasStatus_t cublas_call(cublasHandle_t handle, Body&& body) noexcept {
    return cublas_setting(handle,
                          [&] { return refuse_in_capture(handle->stream) ? CUBLAS_STATUS_NOT_SUPPORTED : body(); });
}

// An operand is in host memory or extends beyond its allocation. A kernel on a real GPU would fault.
inline cublasStatus_t illegal_address() {
    set_sticky_error(cudaErrorIllegalAddress);
    return CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace cornerturn::emulator
