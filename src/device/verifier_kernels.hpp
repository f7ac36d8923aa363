// The verifier's own kernels, behind calls that a host compiler understands.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/gemm_problem.hpp"
#include "core/patterned_batch.hpp"

namespace cornerturn::device {

// All run on the stream and return at once; one launch each, however many matrices. `buffer` is where the batch's
// offset counts from.
void fill_batch(unsigned char* buffer, const patterned_batch& batch, cudaStream_t stream);
void check_batch(const unsigned char* buffer, const patterned_batch& batch, wrong_places* on_device,
                 cudaStream_t stream);
void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream);

// Of a product: a matrix, which lies as its transpose where it is turned, and its gaps, which hold NaN; C before a run,
// and the bytes between its rows; and the first of its elements that is wrong, if one is, by row * n + column, and the
// first row with a changed gap behind it. All matrices begin where their elements do.
void fill_gemm_input(float* matrix, gemm_matrix which, std::int64_t rows, std::int64_t cols, bool turned,
                     std::int64_t ld, gemm_filler filler, cudaStream_t stream);
void fill_gemm_c(float* c, const gemm_shape& shape, cudaStream_t stream);
struct gemm_findings {
    wrong_places wrong;
    double largest = 0, errors = 0, magnitudes = 0;  // of |error| / magnitude; sums of their squares
};
void check_gemm(const gemm_work& work, const gemm_shape& shape, gemm_findings* on_device, cudaStream_t stream);

}  // namespace cornerturn::device
