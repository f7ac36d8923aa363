/// @file
/// A transpose without its addresses.
#pragma once

#include <cstdint>

namespace cornerturn {

/// The shapes and strides of a transpose of one or more matrices of one shape.
///
/// Sizes, leading dimensions and strides count elements. Source matrix i begins at offset i * source_stride, and
/// destination matrix i at offset i * destination_stride, as in batch_view.
struct transpose_layout {
    std::int64_t rows = 0,            ///< The rows of a source matrix. A destination matrix is cols x rows.
        cols = 0;                     ///< The columns of a source matrix.
    std::int64_t source_ld = 0;       ///< The leading dimension of the source, cols or more.
    std::int64_t destination_ld = 0;  ///< The leading dimension of the destination, rows or more.
    std::int64_t element_size = 0;    ///< The bytes of an element, 1 to 2147483647.
    /// The alignment of the addresses in bytes: a power of two that divides element_size.
    std::int64_t element_alignment = 1;
    std::int64_t count = 1;               ///< The number of matrices.
    std::int64_t source_stride = 0;       ///< From one source matrix to the next.
    std::int64_t destination_stride = 0;  ///< From one destination matrix to the next.

    /// @return Whether all members are equal.
    friend bool operator==(const transpose_layout&, const transpose_layout&) = default;
};

}  // namespace cornerturn
