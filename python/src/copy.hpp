// Copies between arrays: which engine does them, and what the caller is told when one refuses.
#pragma once

#include <string>

#include "array.hpp"
#include "cornerturn/cornerturn.h"
#include "cuda_part.hpp"

namespace cornerturn::python {

// The CUDA part, which is loaded at the first call. Raises RuntimeError where this build has none.
const cuda_table& cuda();

// Raises ValueError, MemoryError or RuntimeError with the library's sentence.
void check(cornerturn_status status);
void check(const cuda_table& of, cornerturn_status status);

// The source as the destination's axes walk it: its axis axes[k] is the destination's k. Both are read.
array permuted(const array& source, const int* axes);

// Both have the same extents, element size and memory.
void copy(const array& source, const array& destination, int threads, void* stream);
std::string explain(const array& source, const array& destination);

}  // namespace cornerturn::python
