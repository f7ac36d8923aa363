// The verifier's own kernels, behind calls that a host compiler understands.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/patterned_batch.hpp"
#include "core/patterned_tensor.hpp"

namespace cornerturn::device {

// All run on the stream and return at once; one launch each, however many matrices. `buffer` is where the batch's
// offset counts from.
void fill_batch(unsigned char* buffer, const patterned_batch& batch, cudaStream_t stream);
void check_batch(const unsigned char* buffer, const patterned_batch& batch, wrong_positions* on_device,
                 cudaStream_t stream);
// The same of a tensor, with what lies before its first element.
void fill_tensor(unsigned char* buffer, const patterned_tensor& tensor, cudaStream_t stream);
void check_tensor(const unsigned char* buffer, const patterned_tensor& tensor, wrong_positions* on_device,
                  cudaStream_t stream);
void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream);

}  // namespace cornerturn::device
