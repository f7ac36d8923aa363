// What a kernel is asked to do.
#pragma once

#include <cstdint>

namespace cornerturn {

enum class operation { copy, transpose };

// A matrix to be moved: source is rows x cols; destination is cols x rows for a transpose, rows x cols for a copy.
// Elements are element_size bytes (1, 2, 4, 8 or 16), aligned to that. Leading dimensions count elements.
struct matrix_work {
    const void* source;
    void* destination;
    std::int64_t rows, cols, source_ld, destination_ld;
    int element_size;
};

}  // namespace cornerturn
