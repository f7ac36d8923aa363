// The foreign function `cornerturn_permute` for XLA. It has one argument, one result, and the attributes `axes`
// (64-bit, as for numpy.transpose) and `element_size`.
#pragma once

#include <cstring>
#include <string_view>

#include "cornerturn/cornerturn.h"
#include "xla.hpp"

namespace cornerturn::python::xla {

// The attribute with this name and type, or null.
inline const void* attribute(const call_frame& frame, std::string_view name, int type) {
    for (std::int64_t i = 0; i < frame.attributes.count; ++i) {
        const xla::name& its = *frame.attributes.names[i];
        if (std::string_view(its.data, its.size) == name && frame.attributes.types[i] == type)
            return frame.attributes.each[i];
    }
    return nullptr;
}

inline error* failed(const call_frame& frame, int code, const char* message) {
    error_arguments arguments{sizeof(error_arguments), nullptr, message, code};
    return frame.api->create_error(&arguments);
}

// Of the library's call that returned the status.
inline error* result_of(const call_frame& frame, cornerturn_status status) {
    if (status == CORNERTURN_OK) return nullptr;
    const bool is_memory = status == CORNERTURN_OUT_OF_HOST_MEMORY || status == CORNERTURN_OUT_OF_DEVICE_MEMORY;
    return failed(frame, is_memory ? kResourceExhausted : kInternal, cornerturn_last_error());
}

// `permute` has the arguments of cornerturn_cuda_permute, with the frame instead of the stream.
template <class Permute>
error* handle(call_frame* frame, Permute permute) {
    // When the handler is registered, XLA asks for the version that it was made for.
    if (frame->extensions != nullptr && frame->extensions->type == kMetadata) {
        metadata& its = *reinterpret_cast<metadata_extension*>(frame->extensions)->metadata;
        its.api_version.major = kMajor;
        its.api_version.minor = kMinor;
        its.traits = kCommandBufferCompatible;
        return nullptr;
    }
    const auto* axes = static_cast<const array*>(attribute(*frame, "axes", kArray));
    const auto* element = static_cast<const scalar*>(attribute(*frame, "element_size", kScalar));
    if (frame->arguments.count != 1 || frame->results.count != 1 || axes == nullptr || element == nullptr)
        return failed(*frame, kInvalidArgument,
                      "cornerturn_permute takes one array and the attributes axes and element_size");
    const auto& from = *static_cast<const buffer*>(frame->arguments.each[0]);
    const auto& to = *static_cast<const buffer*>(frame->results.each[0]);
    int order[32];
    const int rank = static_cast<int>(axes->size);
    if (from.rank != rank || to.rank != rank || rank > 32)
        return failed(*frame, kInvalidArgument,
                      "cornerturn_permute: axes needs one number for each axis, and at most 32");
    for (int i = 0; i < rank; ++i) {
        std::int64_t axis;
        std::memcpy(&axis, static_cast<const char*>(axes->data) + static_cast<std::size_t>(i) * sizeof axis,
                    sizeof axis);
        if (axis < 0 || axis >= rank || to.extents[i] != from.extents[axis])
            return failed(*frame, kInvalidArgument, "cornerturn_permute: the result has other extents");
        order[i] = static_cast<int>(axis);
    }
    std::int64_t element_size;
    std::memcpy(&element_size, element->value, sizeof element_size);
    return permute(*frame, rank, from.extents, from.data, order, to.data, element_size);
}

}  // namespace cornerturn::python::xla
