// numpy's arrays, by numpy's C interface: __array_interface__ would take longer than a small copy.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// A numpy.ndarray. Never imports numpy: an array that comes in has.
bool is_numpy(nb::handle object);

void read_numpy(array& a, const char* name);
nb::object new_numpy(nb::handle like, int rank, const std::int64_t* extents);
bool same_numpy_type(nb::handle a, nb::handle b);

}  // namespace cornerturn::python
