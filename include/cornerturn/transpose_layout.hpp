// A transpose without its addresses.
#pragma once

#include <cstdint>

namespace cornerturn {

// Sizes, leading dimensions and strides count elements. As for batch_view:
// source matrix i begins i * source_stride behind the source's address.
struct transpose_layout {
    std::int64_t rows = 0, cols = 0;     // of the source; the destination is cols x rows
    std::int64_t source_ld = 0;          // >= cols
    std::int64_t destination_ld = 0;     // >= rows
    std::int64_t element_size = 0;       // bytes
    std::int64_t element_alignment = 1;  // bytes: a power of two that divides element_size; addresses are multiples
    std::int64_t count = 1;              // matrices
    std::int64_t source_stride = 0;
    std::int64_t destination_stride = 0;

    friend bool operator==(const transpose_layout&, const transpose_layout&) = default;
};

}  // namespace cornerturn
