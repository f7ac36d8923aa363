// What a kernel is asked to do.
#pragma once

#include <cstdint>

namespace cornerturn {

// A matrix to be moved: source is rows x cols; destination is cols x rows for a transpose, rows x cols for a copy. What
// kernels are told: all of it is checked. A user's is a view or a transpose_layout, a test's a problem_shape, in which
// something may be left to be filled in.
// Elements are element_size bytes, aligned to that where it is a power of two (the ladder takes 1, 2, 4, 8 and 16).
// Leading dimensions count elements. A batch is `count` such matrices, each a stride of elements behind the one before;
// only what says that it takes batches looks at that. Square matrices can be their own destination, where a kernel says
// so.
struct matrix_work {
    const void* source;
    void* destination;
    std::int64_t rows, cols, source_ld, destination_ld;
    int element_size;
    std::int64_t count = 1, source_stride = 0, destination_stride = 0;
    bool keeps_lines = true;  // some of what is moved may stay in a GPU's L2 as the last to be evicted
};

}  // namespace cornerturn
