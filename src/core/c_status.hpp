// Translates exceptions into the status codes of C functions. libcornerturn and libcornerturn_host both contain this
// code. If a program links both, statically or dynamically, they share cornerturn_last_error().
#pragma once

#include <exception>
#include <new>

#include "cornerturn/cornerturn.h"
#include "cornerturn/error.hpp"

namespace cornerturn::detail {

// Stores the message for cornerturn_last_error() on this thread, and returns `status`.
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
        return failed(CORNERTURN_INTERNAL_ERROR, "an exception of unknown type");
    }
}

}  // namespace cornerturn::detail
