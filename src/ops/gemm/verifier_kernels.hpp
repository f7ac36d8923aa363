// The verifier's kernels for products, behind calls that a host compiler understands.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/patterned_batch.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::device {

// All run on the stream and return at once. Operands are given by their first element.
// A or B, and its gaps, which hold NaN. A transposed matrix lies as its transpose.
void fill_gemm_input(float* first, gemm_matrix which, const gemm_shape& shape, cudaStream_t stream);
// C before a run, and the bytes between its rows and its matrices.
void fill_gemm_c(float* first, const gemm_shape& shape, cudaStream_t stream);
// The first wrong element of C, and the first float of a gap that was changed: positions of gemm_shape::placed().
struct gemm_findings {
    wrong_positions wrong;
    double largest = 0, errors = 0, magnitudes = 0;  // of |error| / magnitude; sums of their squares
};
void check_gemm(const gemm_work& work, const gemm_shape& shape, gemm_findings* on_device, cudaStream_t stream);

}  // namespace cornerturn::device
