#include "core/conversions.hpp"

#include <array>
#include <cmath>
#include <string>

#include "core/arguments.hpp"
#include "core/tensors.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

using detail::any_tensor;
using detail::axis_list;
using detail::typed_tensor;
using std::to_string;

void check_types(element_type from, element_type to) {
    for (const auto& [name, type] : {std::pair{"source", from}, {"destination", to}}) {
        if (size_of(type) == 0)
            refuse("the element type of the " + std::string(name), to_string(static_cast<int>(type)),
                   "it must be one of those in cornerturn/element.hpp");
    }
    if (is_complex(from) != is_complex(to))
        refuse("the element type of the destination", name_of(to),
               std::string("the source has ") + name_of(from) +
                   "; complex elements can only be converted to complex ones, and others only to others");
}

void check_alignment(const char* name, const typed_tensor& side) {
    if (side.alignment < 1 || size_of(side.type) % side.alignment != 0)
        refuse("the alignment of the " + std::string(name), to_string(side.alignment),
               "it must be a power of two that divides the size of an element, " + to_string(size_of(side.type)));
}

// The axis of the destination that has the numbers.
int axis_of(const conversion& how, int rank) {
    const int axis = how.axis < 0 ? how.axis + rank : how.axis;
    if (axis < 0 || axis >= rank)
        refuse("axis", to_string(how.axis),
               "the destination has " + to_string(rank) + " axes, so it must be from " + to_string(-rank) + " to " +
                   to_string(rank - 1));
    return axis;
}

void check_factors(const char* name, const factors& f, const conversion& how, const axis_list& extents) {
    if (f.is_none() || f.is_number()) return;
    if (f.count() != 1) {
        const std::int64_t extent = extents.values[static_cast<std::size_t>(axis_of(how, extents.size()))];
        if (f.count() != extent)
            refuse(std::string(name) + ".count()", to_string(f.count()),
                   "it must be 1, or " + to_string(extent) + ", the extent of axis " + to_string(how.axis) +
                       " of the destination");
    }
    if (f.count() > 0)
        check_address(name, reinterpret_cast<std::uintptr_t>(f.data()), f.doubles() ? sizeof(double) : sizeof(float));
}

// Whether every value of one integer type has the same bits in the other, if integers wrap.
bool moves_bits(const element_cast& c) {
    if (c.scaled) return false;
    if (c.from == c.to) return true;
    return !c.saturates && is_integer(c.from) && is_integer(c.to) && size_of(c.from) == size_of(c.to);
}

// Whether every value of `from` is one of `to`, or beyond `to` in the same way whether it saturates or not.
bool never_saturates(element_type from, element_type to) {
    if (!is_integer(to) && !is_fp8(to)) return true;
    if (is_fp8(to)) return false;
    if (from == element_type::boolean) return true;
    if (!is_integer(from)) return false;
    const bool from_signed = from >= element_type::i8, to_signed = to >= element_type::i8;
    return from_signed == to_signed ? size_of(from) <= size_of(to) : !from_signed && size_of(from) < size_of(to);
}

}  // namespace

strided_copy checked_conversion(const typed_tensor& source, const axis_list& axes, const typed_tensor& destination,
                                const conversion& how) {
    check_types(source.type, destination.type);
    check_alignment("source", source);
    check_alignment("destination", destination);
    const permuted_tensor permuted(source.tensor, axes);
    const any_tensor from{source.tensor.data, permuted.extents, permuted.strides}, &to = destination.tensor;
    const std::int64_t from_size = size_of(source.type), to_size = size_of(destination.type);
    check_sides(from, from_size, to, to_size, "permuted source");
    check_factors("scale", how.scale, how, to.extents);
    check_factors("bias", how.bias, how, to.extents);
    const bool complex = is_complex(source.type);
    if (complex && !how.bias.is_none()) throw invalid_argument("a conversion of complex elements has no bias");
    if (is_empty(to)) return {source.tensor.data, to.data, 0, 0, {}};

    element_cast cast{part_of(source.type), part_of(destination.type), how.saturate,
                      !how.scale.is_none() || !how.bias.is_none()};
    if (never_saturates(cast.from, cast.to) && !cast.scaled) cast.saturates = true;
    if (!is_integer(cast.to) && !is_fp8(cast.to)) cast.saturates = true;
    scaling by;
    const auto take = [](const factors& f, factors_in_memory& to) {
        if (f.is_number()) to.number = f.number();
        to.address = reinterpret_cast<std::uintptr_t>(f.data());
        to.doubles = f.doubles();
        to.one = f.count() == 1;
    };
    take(how.scale, by.scales);
    take(how.bias, by.biases);

    const int rank = to.extents.size();
    std::array<strided_axis, kMostAxes> all;
    const bool one_for_each = how.scale.count() > 1 || how.bias.count() > 1;
    for (int i = 0; i < rank; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool uses_strides = to.extents.values[at] > 1;
        all[at] = {to.extents.values[at], uses_strides ? from.strides.values[at] * from_size : 0,
                   uses_strides ? to.strides.values[at] * to_size : 0, one_for_each && i == axis_of(how, rank) ? 1 : 0};
    }
    if (moves_bits(cast)) cast = {};
    const strided_copy c = canonical(from.data, to.data, to_size, all.data(), rank, cast, by);
    check_address("source", from.data, source.alignment);
    check_address("destination", to.data, destination.alignment);
    check_sharing(from, to, c, "permuted source");
    return c;
}

}  // namespace cornerturn
