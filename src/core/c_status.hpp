// What C functions return for the exceptions of those that they call. libcornerturn and libcornerturn_host each hold
// it: in a program with both, linked statically or dynamically, cornerturn_last_error() is that of either.
#pragma once

#include <exception>
#include <new>

#include "cornerturn/cornerturn.h"
#include "cornerturn/error.hpp"

namespace cornerturn::detail {

// Keeps the message for cornerturn_last_error() on this thread, and returns the status.
CORNERTURN_EXPORT cornerturn_status failed(cornerturn_status status, const char* message) noexcept;

template <class Work>
cornerturn_status status_of(Work work) noexcept {
    try {
        work();
        return CORNERTURN_OK;
    } catch (const invalid_argument& e) {
        return failed(CORNERTURN_INVALID_ARGUMENT, e.what());
    } catch (const unsupported& e) {
        return failed(CORNERTURN_UNSUPPORTED, e.what());
    } catch (const cuda_error& e) {
        const bool is_memory = e.name() == "cudaErrorMemoryAllocation";
        return failed(is_memory ? CORNERTURN_OUT_OF_DEVICE_MEMORY : CORNERTURN_CUDA_ERROR, e.what());
    } catch (const std::bad_alloc&) {
        return failed(CORNERTURN_OUT_OF_HOST_MEMORY, "out of host memory");
    } catch (const std::exception& e) {
        return failed(CORNERTURN_INTERNAL_ERROR, e.what());
    } catch (...) {
        return failed(CORNERTURN_INTERNAL_ERROR, "an exception of an unknown type");
    }
}

}  // namespace cornerturn::detail
