// Checks of a conversion's arguments, for the GPU and the host, and its canonical form.
#pragma once

#include "core/strided.hpp"
#include "cornerturn/convert.hpp"

namespace cornerturn {

// The type of the parts of a complex element. Other elements have one part.
constexpr element_type part_of(element_type t) {
    return t == element_type::c64 ? element_type::f32 : t == element_type::c128 ? element_type::f64 : t;
}

// The conversion, with all checks that need no device. It is empty if there is nothing to do. A conversion that changes
// no bits is a copy. Throws invalid_argument, or unsupported if it cannot tell whether elements overlap.
strided_copy checked_conversion(const detail::typed_tensor& source, const detail::axis_list& axes,
                                const detail::typed_tensor& destination, const conversion& how);

}  // namespace cornerturn
