// The seed of what a test draws.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace cornerturn::tests {

// CORNERTURN_SEED if it is set, else `otherwise`. It is printed, so that a failure can be drawn again.
inline std::uint32_t seed(std::uint32_t otherwise) {
    const char* const wanted = std::getenv("CORNERTURN_SEED");
    const bool given = wanted != nullptr && *wanted != '\0';
    const std::uint32_t number = given ? static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10)) : otherwise;
    std::printf("seed %u: CORNERTURN_SEED=%u draws the same again\n", number, number);
    return number;
}

}  // namespace cornerturn::tests
