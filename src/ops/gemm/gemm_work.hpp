// The task of a kernel that multiplies, and what the registry and the lab know of such kernels.
#pragma once

#include <cstdint>
#include <string>

#include "device/registry.hpp"

namespace cornerturn {

// C = alpha A B + beta C, of floats. A is m x k, B k x n and C m x n, row-major, with leading dimensions in elements. A
// transposed operand is given as its transpose: A as k x m, B as n x k. A batch is `count` such products; strides, in
// elements, lead from one to the next. If beta is 0, C is not read. C overlaps neither A nor B. Only kernels that say
// so take transposed operands and batches.
struct gemm_work {
    const float *a, *b;
    float* c;
    std::int64_t m, n, k, lda, ldb, ldc;
    float alpha = 1, beta = 0;
    float* workspace = nullptr;  // as many floats as the kernel needs, aligned to 16 bytes
    bool a_transposed = false, b_transposed = false;
    std::int64_t count = 1, a_stride = 0, b_stride = 0, c_stride = 0;
};

template <>
struct kernel_traits<gemm_work> {
    // How many floats of workspace a product of this size takes, wherever its operands are. Null for none.
    std::int64_t (*workspace)(const gemm_work& work) = nullptr;
    // Says in a line how the kernel would do the work on a GPU of that compute capability (90 for 9.0) with that many
    // multiprocessors, and why. Null if it has only one way.
    std::string (*explain)(const gemm_work& work, int compute_capability, int multiprocessors) = nullptr;
    bool any_layout = false;  // takes transposed operands and batches

    static const char kType;
};

const operation& gemm_operation();

}  // namespace cornerturn
