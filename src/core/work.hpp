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
// Where beta is 0, C is not read. C overlaps neither A nor B.
struct gemm_work {
    const float *a, *b;
    float* c;
    std::int64_t m, n, k, lda, ldb, ldc;
    float alpha = 1, beta = 0;
    float* workspace = nullptr;  // of gemm_workspace() floats, aligned to 16 bytes: for kernels that transpose A first
};

// A's transpose in the workspace: k rows so many floats apart, each aligned to 16 bytes.
constexpr std::int64_t gemm_workspace_ld(std::int64_t m) { return (m + 3) / 4 * 4; }
constexpr std::int64_t gemm_workspace(std::int64_t m, std::int64_t k) { return gemm_workspace_ld(m) * k; }

}  // namespace cornerturn
