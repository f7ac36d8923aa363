// The task of kernels that copy between tensors of any strides, or convert, and what the registry knows of such
// kernels.
#pragma once

#include <cstdint>

#include "core/strided.hpp"
#include "cornerturn/tensor_view.hpp"
#include "device/registry.hpp"

namespace cornerturn {

// Extents are in the destination's order of axes. Strides count elements; the source's may have any sign, or be 0. Both
// addresses are those of the element at index 0 of every axis. They are multiples of the largest power of two that
// divides the size of an element.
struct strided_work {
    const void* source;
    void* destination;
    int element_size;  // of the destination
    int rank;
    std::int64_t extents[kMostAxes], source_strides[kMostAxes], destination_strides[kMostAxes];
    // Of a conversion. `factor_axis` is the axis of the scales and biases in memory; -1 if there are none.
    element_cast cast{};
    scaling by{};
    int factor_axis = -1;
};

template <>
struct kernel_traits<strided_work> {
    bool arithmetic = false;  // treats elements as numbers: a NaN, infinity or denormal may come back altered

    static const char kType;
};

strided_copy canonical(const strided_work& work);

}  // namespace cornerturn
