// Makes PyTorch tensors.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// Makes a packed tensor with the extents, type and device of `made`, and completes `made`. False if it cannot.
bool make_torch(array& made);

}  // namespace cornerturn::python
