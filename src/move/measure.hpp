// A choice by measurement.
#pragma once

#include <cuda_runtime.h>

#include "core/strided.hpp"

namespace cornerturn::moves {

// Throws invalid_argument if the stream is in capture.
void check_not_captured(cudaStream_t stream);

// Times the ways to move the copy on the stream, waits for it, and remembers the fastest for all copies like this one
// (policy_measured.hpp). Writes the destination. The addresses were checked before, and the device is current. The
// stream is not in capture. Throws cuda_error.
void measure(const strided_copy& c, int device, cudaStream_t stream);

}  // namespace cornerturn::moves
