// Gaps of all kinds in a problem whose extents stand.
#pragma once

#include "core/problem.hpp"

namespace cornerturn::tests {

// Leading dimensions, strides and offsets at random; up_to(most) draws from 0 to most. Half of them leave no gap, a
// quarter keep rows aligned, if they were.
template <class UpTo>
void add_gaps(problem_shape& s, UpTo up_to, std::int64_t most_offset) {
    const auto gap = [&] { return up_to(1) == 0 ? 0 : up_to(1) == 0 ? 16 * up_to(3) : up_to(9); };
    s.source_ld = s.cols + gap();
    s.destination_ld = s.in_place ? s.source_ld : s.rows + gap();
    if (s.count > 1) {
        s.source_stride = s.rows * s.source_ld + gap();
        s.destination_stride = s.in_place ? s.source_stride : s.cols * s.destination_ld + gap();
    }
    s.source_offset = up_to(1) == 0 ? 0 : up_to(most_offset);
    s.destination_offset = s.in_place ? s.source_offset : up_to(1) == 0 ? 0 : up_to(most_offset);
}

}  // namespace cornerturn::tests
