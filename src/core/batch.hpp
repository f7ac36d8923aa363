// Layouts of batches of matrices (batch_view in cornerturn/matrix_view.hpp explains them), in host or device memory.
// Host and device code share this file.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn {

using detail::batch_layout;

CORNERTURN_HOST_DEVICE inline bool is_empty(const batch_layout& b) {
    return b.rows == 0 || b.cols == 0 || b.count == 0;
}

// Elements from the first to the last, including the gaps: in one matrix, and in the whole batch. Neither may be empty.
CORNERTURN_HOST_DEVICE inline std::int64_t matrix_span(const batch_layout& b) { return (b.rows - 1) * b.ld + b.cols; }
CORNERTURN_HOST_DEVICE inline std::int64_t batch_span(const batch_layout& b) {
    return (b.count > 1 ? (b.count - 1) * b.stride : 0) + matrix_span(b);
}

// Matrices that do not overlap are in one of two orders: one after another, or side by side in the rows of a larger
// matrix.
CORNERTURN_HOST_DEVICE inline bool one_after_another(const batch_layout& b) { return b.stride >= matrix_span(b); }
CORNERTURN_HOST_DEVICE inline bool side_by_side(const batch_layout& b) {
    return b.stride >= b.cols && b.ld >= (b.count - 1) * b.stride + b.cols;
}

}  // namespace cornerturn
