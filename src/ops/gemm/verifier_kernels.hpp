// The verifier's kernels for products, as functions that a host compiler can call.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/patterned_batch.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::device {

// All run on the stream and return at once. An operand is given by the address of its first element.
// Fills A or B, and its gaps with NaN. A transposed matrix is stored as its transpose.
void fill_gemm_input(float* first, gemm_matrix which, const gemm_shape& shape, cudaStream_t stream);
// Fills C as before a run, and the bytes between its rows and its matrices.
void fill_gemm_c(float* first, const gemm_shape& shape, cudaStream_t stream);
// The first wrong element of C and the first changed float of a gap, as positions of gemm_shape::placed().
struct gemm_findings {
    wrong_positions wrong;
    double largest = 0, errors = 0, magnitudes = 0;  // of |error| / magnitude; sums of squares of the two
};
void check_gemm(const gemm_work& work, const gemm_shape& shape, gemm_findings* on_device, cudaStream_t stream);

}  // namespace cornerturn::device
