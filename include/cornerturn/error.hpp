/// @file
/// The exceptions that the library throws. Every message is one sentence. It names the wrong value, or CUDA's error.
#pragma once

#include <stdexcept>
#include <string>

#include "cornerturn/export.h"

/// Transposes, copies and permutations in host memory; views and errors, for host memory and for a GPU.
namespace cornerturn {

/// The base of all exceptions of the library, except `std::bad_alloc`.
struct CORNERTURN_EXPORT error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The call asks for something that can never be done.
struct CORNERTURN_EXPORT invalid_argument : error {
    using error::error;
};

/// The call is valid, but this machine or this kernel cannot do it, or the library cannot tell whether it is allowed.
struct CORNERTURN_EXPORT unsupported : error {
    using error::error;
};

/// A CUDA call failed.
class CORNERTURN_EXPORT cuda_error : public error {
public:
    /// Makes an error.
    /// @param name CUDA's name of the error.
    /// @param message The sentence that what() returns.
    cuda_error(std::string name, const std::string& message) : error(message), name_(std::move(name)) {}
    /// @return CUDA's name of the error, such as "cudaErrorMemoryAllocation".
    const std::string& name() const { return name_; }

private:
    std::string name_;
};

}  // namespace cornerturn
