// Copies between arrays: the choice between host and GPU, and the errors for the caller.
#pragma once

#include <string>

#include "array.hpp"
#include "cornerturn/cornerturn.h"
#include "cuda_part.hpp"

namespace cornerturn::python {

// The CUDA part, loaded at the first call. Raises RuntimeError if this build has none.
const cuda_table& cuda();

// Raises ValueError, MemoryError or RuntimeError with the library's message.
void check(cornerturn_status status);
void check(const cuda_table& of, cornerturn_status status);

// The source with its axes in the destination's order: axis k is the source's axis axes[k]. The source has been read.
array permuted(const array& source, const int* axes);

// Whether the work on this array takes longer than to release the GIL and to wait to get it back.
bool is_worth_releasing(const array& a);

// Both arrays have the same extents, element size and memory.
void copy(const array& source, const array& destination, int threads, void* stream);
std::string explain(const array& source, const array& destination);
// Both are on a GPU.
void tune(const array& source, const array& destination, void* stream);

}  // namespace cornerturn::python
