#include "core/c_status.hpp"

#include <algorithm>
#include <cstring>

namespace {

// The size is fixed, so storing a message cannot fail. Longer messages are truncated.
thread_local char last_error[1024] = "";

}  // namespace

cornerturn_status cornerturn::detail::failed(cornerturn_status status, const char* message) noexcept {
    const std::size_t length = std::min(std::strlen(message), sizeof last_error - 1);
    std::memcpy(last_error, message, length);
    last_error[length] = '\0';
    return status;
}

const char* cornerturn_last_error() { return last_error; }

const char* cornerturn_status_name(cornerturn_status status) {
    switch (status) {
        case CORNERTURN_OK: return "ok";
        case CORNERTURN_INVALID_ARGUMENT: return "invalid_argument";
        case CORNERTURN_UNSUPPORTED: return "unsupported";
        case CORNERTURN_CUDA_ERROR: return "cuda_error";
        case CORNERTURN_INTERNAL_ERROR: return "internal_error";
        case CORNERTURN_OUT_OF_HOST_MEMORY: return "out_of_host_memory";
        case CORNERTURN_OUT_OF_DEVICE_MEMORY: return "out_of_device_memory";
    }
    return "unknown";
}

int cornerturn_version_number() { return CORNERTURN_VERSION_NUMBER; }

#define CORNERTURN_TEXT_OF(value) #value
#define CORNERTURN_DOTTED(major, minor, patch) \
    CORNERTURN_TEXT_OF(major) "." CORNERTURN_TEXT_OF(minor) "." CORNERTURN_TEXT_OF(patch)
const char* cornerturn_version_string() {
    return CORNERTURN_DOTTED(CORNERTURN_VERSION_MAJOR, CORNERTURN_VERSION_MINOR, CORNERTURN_VERSION_PATCH);
}
