// What a kernel that multiplies is asked to do, and what the registry and the lab know of it.
#pragma once

#include <cstdint>
#include <string>

#include "device/registry.hpp"

namespace cornerturn {

// C = alpha A B + beta C, of floats: A is m x k, B k x n and C m x n, row-major, their leading dimensions in elements.
// A transposed operand is given by its transpose: A as k x m, B as n x k. A batch is `count` such products, each
// operand a stride of elements behind the one before. Where beta is 0, C is not read. C overlaps neither A nor B.
// Transposed operands and batches are for what says that it takes them.
struct gemm_work {
    const float *a, *b;
    float* c;
    std::int64_t m, n, k, lda, ldb, ldc;
    float alpha = 1, beta = 0;
    float* workspace = nullptr;  // of as many floats as the kernel says, aligned to 16 bytes
    bool a_transposed = false, b_transposed = false;
    std::int64_t count = 1, a_stride = 0, b_stride = 0, c_stride = 0;
};

template <>
struct kernel_traits<gemm_work> {
    // How many floats of workspace it takes to multiply matrices so large, wherever they lie; null for none.
    std::int64_t (*workspace)(const gemm_work& work) = nullptr;
    // How it would do the work on a GPU of that compute capability (90 for 9.0) and of so many multiprocessors, and
    // why, in a line; null where it has but one way.
    std::string (*explain)(const gemm_work& work, int compute_capability, int multiprocessors) = nullptr;
    bool any_layout = false;  // takes transposed operands and batches

    static const char kType;
};

const operation& gemm_operation();

}  // namespace cornerturn
