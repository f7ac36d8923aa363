// A problem in words, for a failure's message; and its size.
#pragma once

#include <string>

#include "core/problem.hpp"

namespace cornerturn::tests {

inline std::string describe(const problem_shape& s) {
    return std::to_string(s.count) + " of " + std::to_string(s.rows) + " x " + std::to_string(s.cols) +
           " elements of " + std::to_string(s.element_size) + " bytes, ld " + std::to_string(s.source_ld) + " and " +
           std::to_string(s.destination_ld) + ", strides " + std::to_string(s.source_stride) + " and " +
           std::to_string(s.destination_stride) + ", offsets " + std::to_string(s.source_offset) + " and " +
           std::to_string(s.destination_offset) + (s.in_place ? ", in place" : "") + ", seed " + std::to_string(s.seed);
}

// Of both sides, without gaps.
inline std::int64_t bytes_of(const problem_shape& s) { return (s.in_place ? 1 : 2) * s.elements() * s.element_size; }

}  // namespace cornerturn::tests
