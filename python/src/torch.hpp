// New tensors of PyTorch's.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// A packed tensor of the type and on the device of `like`, from PyTorch's allocator.
nb::object new_torch(const array& like, int rank, const std::int64_t* extents);

}  // namespace cornerturn::python
