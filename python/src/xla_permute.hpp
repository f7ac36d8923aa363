// The foreign function `cornerturn_permute` for XLA. It has one argument, one result, and the attributes `axes`
// (64-bit, as for numpy.transpose) and `element_size`.
#pragma once

#include "xla_call.hpp"

namespace cornerturn::python::xla {

// `permute` has the arguments of cornerturn_cuda_permute, with the frame instead of the stream.
template <class Permute>
error* handle_permute(call_frame* frame, Permute permute) {
    if (tells_version(*frame)) return nullptr;
    std::int64_t element_size = 0;
    if (!scalar_attribute(*frame, "element_size", element_size) || frame->arguments.count != 1)
        return failed(*frame, kInvalidArgument, "cornerturn_permute takes one array and the attribute element_size");
    return with_arrays(*frame, "cornerturn_permute", [&](const moved_arrays& its) {
        return permute(*frame, its.rank, its.from.extents, its.from.data, its.order, its.to.data, element_size);
    });
}

}  // namespace cornerturn::python::xla
