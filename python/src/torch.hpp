// Makes PyTorch tensors.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// Makes a packed tensor with the extents, type and device of `made`, and completes `made`. False if it cannot.
bool make_torch(array& made);

// DLPack calls PyTorch's integers of 1 to 7 bits, which take a byte, int8 or uint8: marks them as types of their own.
void mark_small_integers(array& a);

}  // namespace cornerturn::python
