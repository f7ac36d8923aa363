// From an element size at run time to a type.
#pragma once

#include <cstdint>
#include <string>

#include "core/pattern.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {

// Calls f(T{}) where T stores elements of that size. Throws unsupported for any but 1, 2, 4, 8 and 16.
template <class F>
auto with_element_type(int element_size, F f) {
    switch (element_size) {
        case 1: return f(std::uint8_t{});
        case 2: return f(std::uint16_t{});
        case 4: return f(std::uint32_t{});
        case 8: return f(std::uint64_t{});
        case 16: return f(bits128{});
        default:
            throw unsupported("elements of " + std::to_string(element_size) +
                              " bytes: the kernels take 1, 2, 4, 8 and 16");
    }
}

}  // namespace cornerturn
