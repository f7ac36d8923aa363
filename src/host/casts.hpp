// Conversions of elements that follow each other, chosen for the processor at run time.
#pragma once

#include <cstdint>

#include "core/cast.hpp"
#include "host/kernels.hpp"

namespace cornerturn::host {

// The scales and biases of elements that follow each other, as the conversion works them out: float, or double. Null:
// the number is that of all elements.
struct line_factors {
    const void *scales = nullptr, *biases = nullptr;
    double scale = 1, bias = -0.0;
};

// Converts `count` elements from `from` to `to`, which do not overlap, or are the same addresses and sizes. Addresses
// are aligned to the elements.
using cast_function = void (*)(const byte* from, byte* to, std::int64_t count, element_cast cast,
                               const line_factors& by);
cast_function cast_elements();

// The parts of it that do without vectors: from f64 and integers of 4 and 8 bytes; to any type; and from integers to
// any type without a scale.
void wide_to_f64(element_type type, const byte* from, double* to, std::int64_t count);
void from_f64(const double* from, element_type type, byte* to, std::int64_t count, bool saturates);
void convert_integers(element_type from_type, const byte* from, element_type type, byte* to, std::int64_t count,
                      bool saturates);

}  // namespace cornerturn::host
