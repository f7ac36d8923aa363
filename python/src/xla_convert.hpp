// The foreign function `cornerturn_convert` for XLA. Its arguments are the array, then the scales and the biases if
// they are in memory. Its attributes are `axes` (64-bit, as for numpy.transpose) and these, of 64 bits each:
// - source_type, destination_type: numbers of cornerturn_element,
// - scale_kind, bias_kind: numbers of cornerturn_factors_kind,
// - scale, bias: the numbers, if they are numbers, of type double,
// - axis, unsaturated: as in cornerturn_conversion.
#pragma once

#include "cornerturn/convert.h"
#include "xla_call.hpp"

namespace cornerturn::python::xla {

// Takes the numbers from the next argument, if they are in memory. Returns false if there is none.
inline bool take_factors(const call_frame& frame, std::int64_t kind, double number, std::int64_t& next,
                         cornerturn_factors& factors) {
    factors = {static_cast<cornerturn_factors_kind>(kind), number, nullptr, 0};
    if (kind == CORNERTURN_NONE || kind == CORNERTURN_NUMBER) return true;
    if (next >= frame.arguments.count) return false;
    const buffer& its = argument(frame, next++);
    factors.data = its.data;
    factors.count = its.rank == 0 ? 1 : its.extents[0];
    return its.rank <= 1;
}

// `convert` has the arguments of cornerturn_cuda_convert without strides, with the frame instead of the stream.
template <class Convert>
error* handle_convert(call_frame* frame, Convert convert) {
    if (tells_version(*frame)) return nullptr;
    const call_frame& f = *frame;
    std::int64_t source_type = 0, destination_type = 0, scale_kind = 0, bias_kind = 0, axis = 0, unsaturated = 0;
    double scale = 0, bias = 0;
    const bool has_all = scalar_attribute(f, "source_type", source_type) &&
                         scalar_attribute(f, "destination_type", destination_type) &&
                         scalar_attribute(f, "scale_kind", scale_kind) && scalar_attribute(f, "scale", scale) &&
                         scalar_attribute(f, "bias_kind", bias_kind) && scalar_attribute(f, "bias", bias) &&
                         scalar_attribute(f, "axis", axis) && scalar_attribute(f, "unsaturated", unsaturated);
    cornerturn_conversion how{{}, {}, static_cast<int>(axis), static_cast<int>(unsaturated)};
    std::int64_t next = 1;
    if (!has_all || !take_factors(f, scale_kind, scale, next, how.scale) ||
        !take_factors(f, bias_kind, bias, next, how.bias) || next != f.arguments.count)
        return failed(f, kInvalidArgument, "cornerturn_convert: an attribute is missing, or an argument does not fit");
    return with_arrays(f, "cornerturn_convert", [&](const moved_arrays& its) {
        return convert(f, its.rank, its.from.extents, its.from.data, static_cast<cornerturn_element>(source_type),
                       its.order, its.to.data, static_cast<cornerturn_element>(destination_type), &how);
    });
}

}  // namespace cornerturn::python::xla
