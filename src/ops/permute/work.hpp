// Kernels that copy between tensors of any strides: what they are asked to do, and what the registry knows of them.
#pragma once

#include <cstdint>

#include "cornerturn/tensor_view.hpp"
#include "device/registry.hpp"

namespace cornerturn {

// Extents are the destination's, in its order of axes. Strides count elements; the source's may be of any sign, or 0.
// Both addresses are of the element at index 0 of every axis, and multiples of the largest power of two that divides
// element_size.
struct strided_work {
    const void* source;
    void* destination;
    int element_size;
    int rank;
    std::int64_t extents[kMostAxes], source_strides[kMostAxes], destination_strides[kMostAxes];
};

template <>
struct kernel_traits<strided_work> {
    bool arithmetic = false;  // takes elements for numbers: a NaN, infinity or denormal may come back altered

    static const char kType;
};

const operation& permute_operation();

}  // namespace cornerturn
