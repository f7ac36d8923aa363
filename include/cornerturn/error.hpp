// The errors that cornerturn throws. Every message is one sentence that names the value at fault.
#pragma once

#include <stdexcept>
#include <string>

#include "cornerturn/export.h"

namespace cornerturn {

struct CORNERTURN_EXPORT error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The caller asked for something that can never be done.
struct CORNERTURN_EXPORT invalid_argument : error {
    using error::error;
};

// Valid, but not on this machine or not by this kernel.
struct CORNERTURN_EXPORT unsupported : error {
    using error::error;
};

// A call of CUDA's failed; name() is CUDA's own name of the error, such as "cudaErrorMemoryAllocation".
class CORNERTURN_EXPORT cuda_error : public error {
public:
    cuda_error(std::string name, const std::string& message) : error(message), name_(std::move(name)) {}
    const std::string& name() const { return name_; }

private:
    std::string name_;
};

}  // namespace cornerturn
