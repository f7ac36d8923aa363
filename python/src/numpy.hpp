// numpy arrays, by numpy's C interface: __array_interface__ would take longer than a small copy.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// Whether it is a numpy.ndarray. Does not import numpy: if there is an array, numpy has been imported.
bool is_numpy(nb::handle object);

void read_numpy(array& a, const char* name);
// Makes a packed array with the extents of `made` and the given dtype, or that of `like`, and completes `made`.
void make_numpy(array& made, nb::handle like, nb::handle dtype);
bool same_numpy_type(nb::handle a, nb::handle b);

}  // namespace cornerturn::python
