// Copies that show whether what follows in a stream waits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::tests {

// Both copy so many bytes, a multiple of 16, between addresses that are multiples of 16.

// Lets what follows start at once, and writes a fifth of a millisecond later. Before Hopper nothing follows early.
void copy_late(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);

// Is launched early and does not wait for what is ahead, as no kernel of the library may.
void copy_early(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);

}  // namespace cornerturn::tests
