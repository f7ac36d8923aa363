// A kernel that lets what follows it start at once and writes long after: what does not wait for it finds old bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::tests {

// Copies so many bytes, a multiple of 16, between addresses that are multiples of 16. Before Hopper nothing can follow
// it early.
void copy_late(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);

}  // namespace cornerturn::tests
