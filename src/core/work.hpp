// What a kernel is asked to do.
#pragma once

#include <cstdint>

namespace cornerturn {

enum class operation { copy, transpose, multiply };

// A matrix to be moved: source is rows x cols; destination is cols x rows for a transpose, rows x cols for a copy.
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
};

// C = alpha A B + beta C, of floats: A is m x k, B k x n and C m x n, row-major, their leading dimensions in elements.
// An operand that is turned is given by its transpose: A as k x m, B as n x k. A batch is `count` such products, each
// operand a stride of elements behind the one before. Where beta is 0, C is not read. C overlaps neither A nor B.
// Turned operands and batches are for what says that it takes them.
struct gemm_work {
    const float *a, *b;
    float* c;
    std::int64_t m, n, k, lda, ldb, ldc;
    float alpha = 1, beta = 0;
    float* workspace = nullptr;  // of as many floats as the kernel says, aligned to 16 bytes
    bool a_turned = false, b_turned = false;
    std::int64_t count = 1, a_stride = 0, b_stride = 0, c_stride = 0;
};

}  // namespace cornerturn
