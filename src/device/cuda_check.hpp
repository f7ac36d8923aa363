// Calls of the CUDA runtime that cannot fail unnoticed, and the stream that launches go to.
#pragma once

#include <cuda_runtime.h>

namespace cornerturn::device {

// Throws cuda_error with the expression, its place and CUDA's name and text of the error; clears it where CUDA can.
void check_cuda(cudaError_t status, const char* expression, const char* file, int line);

// The stream that launch() uses on the calling thread; the default stream unless set.
cudaStream_t current_stream();
void set_current_stream(cudaStream_t stream);

}  // namespace cornerturn::device

#define CORNERTURN_CUDA(expression) ::cornerturn::device::check_cuda((expression), #expression, __FILE__, __LINE__)
