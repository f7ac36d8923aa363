#include "emulate/runtime/errors.hpp"

#include <atomic>

namespace cornerturn::emulator {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<cudaError_t> sticky{cudaSuccess};

struct error_text {
    cudaError_t value;
    const char* name;
    const char* text;
};

constexpr error_text kErrors[] = {
#define CT_ERROR(name, value, text) {name, #name, text},
#include <cornerturn_cuda/error_table.h>
#undef CT_ERROR
};

const error_text* find(cudaError_t error) {
    for (const error_text& known : kErrors) {
        if (known.value == error) return &known;
    }
    return nullptr;
}

}  // namespace

cudaError_t fail(cudaError_t error) {
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    return error;
}

void set_sticky_error(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    sticky.compare_exchange_strong(none, error);
}

void clear_sticky_error() { sticky = cudaSuccess; }

cudaError_t sticky_error() { return sticky.load(std::memory_order_relaxed); }

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

// Clears a sticky error too, but the next call returns and records it again, as on an H200.
cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
    const error_text* const known = find(error);
    return known ? known->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
    const error_text* const known = find(error);
    return known ? known->text : "unrecognized error code";
}

cudaError_t ct_not_supported(void) {
    return api_call([] { return cudaErrorNotSupported; });
}

}  // extern "C"
