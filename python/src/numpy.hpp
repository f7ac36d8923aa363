// numpy's arrays, by numpy's C interface: __array_interface__ would take longer than a small copy.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// A numpy.ndarray. Never imports numpy: an array that comes in has.
bool is_numpy(nb::handle object);

void read_numpy(array& a, const char* name);
// A packed array of the extents of `made` and the dtype of `like`: completes `made`.
void make_numpy(array& made, nb::handle like);
bool same_numpy_type(nb::handle a, nb::handle b);

}  // namespace cornerturn::python
