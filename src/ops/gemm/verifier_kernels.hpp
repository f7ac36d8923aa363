// The verifier's kernels for products, behind calls that a host compiler understands.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/patterned_batch.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::device {

// All run on the stream and return at once. All matrices begin where their elements do.
// A or B, and its gaps, which hold NaN. A transposed matrix lies as its transpose.
void fill_gemm_input(float* matrix, gemm_matrix which, std::int64_t rows, std::int64_t cols, bool transposed,
                     std::int64_t ld, gemm_filler filler, cudaStream_t stream);
// C before a run, and the bytes between its rows.
void fill_gemm_c(float* c, const gemm_shape& shape, cudaStream_t stream);
// The first wrong element of C, by row * n + column, and the first row with a changed gap behind it.
struct gemm_findings {
    wrong_positions wrong;
    double largest = 0, errors = 0, magnitudes = 0;  // of |error| / magnitude; sums of their squares
};
void check_gemm(const gemm_work& work, const gemm_shape& shape, gemm_findings* on_device, cudaStream_t stream);

}  // namespace cornerturn::device
