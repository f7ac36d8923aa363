// The kernels of after_transpose.cpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::after {

// Fills memory with floats, or with halves, from 1 to 2.
void fill(void* data, std::int64_t bytes, bool halves, unsigned seed, cudaStream_t stream);
// Adds a hash of the content, which differs for different contents.
void add_hash(const void* data, std::int64_t bytes, unsigned long long* sum, cudaStream_t stream);
// A naive transpose of elements of 2 or 4 bytes.
void transpose_slowly(const void* source, void* destination, std::int64_t rows, std::int64_t cols, int size,
                      cudaStream_t stream);
// Adds all 4-byte words.
void reduce(const void* data, std::int64_t bytes, unsigned long long* sum, cudaStream_t stream);
// Copies every 4-byte word, and flips the bits in `change`.
void copy_changed(const void* source, void* destination, std::int64_t bytes, unsigned change, cudaStream_t stream);

}  // namespace cornerturn::after
