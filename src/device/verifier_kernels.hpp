// The verifier's own kernels, as functions that a host compiler can call.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/patterned_batch.hpp"
#include "core/patterned_tensor.hpp"

namespace cornerturn::device {

// Each call launches one kernel on the stream, however many matrices there are, and returns at once. The batch's offset
// counts from `buffer`.
void fill_batch(unsigned char* buffer, const patterned_batch& batch, cudaStream_t stream);
void check_batch(const unsigned char* buffer, const patterned_batch& batch, wrong_positions* on_device,
                 cudaStream_t stream);
// The same for a tensor and the bytes before its first element.
void fill_tensor(unsigned char* buffer, const patterned_tensor& tensor, cudaStream_t stream);
void check_tensor(const unsigned char* buffer, const patterned_tensor& tensor, wrong_positions* on_device,
                  cudaStream_t stream);
void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream);

}  // namespace cornerturn::device
