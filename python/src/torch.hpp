// New tensors of PyTorch's.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// A packed tensor of the extents, the type and the device of `made`: completes it. False where it cannot be made here.
bool make_torch(array& made);

}  // namespace cornerturn::python
