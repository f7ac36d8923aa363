// Conversions of arrays to other element types.
#pragma once

#include "array.hpp"

namespace cornerturn::python {

// Users call this one.
nb::object convert(nb::handle x, nb::handle dtype, nb::handle axes, nb::handle scale, nb::handle bias, nb::handle axis,
                   bool saturate, nb::handle out, nb::handle stream, nb::handle threads);

// Tells autograd nothing: it has recorded the call already, or need not.
nb::object convert_unrecorded(nb::handle x, nb::handle dtype, nb::handle axes, nb::handle scale, nb::handle bias,
                              nb::handle axis, bool saturate);

}  // namespace cornerturn::python
