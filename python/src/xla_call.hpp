// What the handlers of XLA's calls share: their attributes, their arrays, and their errors.
#pragma once

#include <cstring>
#include <string>
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

// The scalar attribute with this name. Returns false if there is none.
template <class Number>
bool scalar_attribute(const call_frame& frame, std::string_view name, Number& number) {
    const auto* its = static_cast<const scalar*>(attribute(frame, name, kScalar));
    if (its == nullptr) return false;
    std::memcpy(&number, its->value, sizeof number);
    return true;
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

// When a handler is registered, XLA asks for the version that it was made for. Returns whether this is that call.
inline bool tells_version(const call_frame& frame) {
    if (frame.extensions == nullptr || frame.extensions->type != kMetadata) return false;
    metadata& its = *reinterpret_cast<metadata_extension*>(frame.extensions)->metadata;
    its.api_version.major = kMajor;
    its.api_version.minor = kMinor;
    its.traits = kCommandBufferCompatible;
    return true;
}

inline const buffer& argument(const call_frame& frame, std::int64_t i) {
    return *static_cast<const buffer*>(frame.arguments.each[i]);
}

// The first argument, the result, and the attribute `axes`: 64-bit, as for numpy.transpose.
struct moved_arrays {
    const buffer &from, &to;
    int rank;
    int order[32];
};

// Calls `work` with them, or returns an error. `name` is the name of the foreign function.
template <class Work>
error* with_arrays(const call_frame& frame, const std::string& name, Work work) {
    const auto* axes = static_cast<const array*>(attribute(frame, "axes", kArray));
    if (frame.arguments.count < 1 || frame.results.count != 1 || axes == nullptr)
        return failed(frame, kInvalidArgument, (name + " takes an array and the attribute axes").c_str());
    moved_arrays its{
        argument(frame, 0), *static_cast<const buffer*>(frame.results.each[0]), static_cast<int>(axes->size), {}};
    if (its.from.rank != its.rank || its.to.rank != its.rank || its.rank > 32)
        return failed(frame, kInvalidArgument,
                      (name + ": axes needs one number for each axis, and at most 32").c_str());
    for (int i = 0; i < its.rank; ++i) {
        std::int64_t axis;
        std::memcpy(&axis, static_cast<const char*>(axes->data) + static_cast<std::size_t>(i) * sizeof axis,
                    sizeof axis);
        if (axis < 0 || axis >= its.rank || its.to.extents[i] != its.from.extents[axis])
            return failed(frame, kInvalidArgument, (name + ": the result has other extents").c_str());
        its.order[i] = static_cast<int>(axis);
    }
    return work(its);
}

}  // namespace cornerturn::python::xla
