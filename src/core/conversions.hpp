// Checks of a conversion's arguments, for the GPU and the host, and its canonical form.
#pragma once

#include "core/strided.hpp"
#include "cornerturn/convert.hpp"

namespace cornerturn {

// The conversion, with all checks that need no device. It is empty if there is nothing to do. A conversion that changes
// no bits is a copy. Throws invalid_argument, or unsupported if it cannot tell whether elements overlap.
strided_copy checked_conversion(const detail::typed_tensor& source, const detail::axis_list& axes,
                                const detail::typed_tensor& destination, const conversion& how);

}  // namespace cornerturn
