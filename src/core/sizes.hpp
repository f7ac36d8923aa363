// Arithmetic on sizes that detects overflow.
#pragma once

#include <cstdint>
#include <string>

#include "cornerturn/error.hpp"

namespace cornerturn {

// a * b for non-negative factors. Throws invalid_argument if the product does not fit in 64 bits; the message calls the
// product `what`.
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b, const char* what) {
    std::int64_t product = 0;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) {
        throw invalid_argument(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                               " does not fit in 64 bits");
    }
    return product;
}

}  // namespace cornerturn
