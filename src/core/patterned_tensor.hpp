// A tensor in one of the verifier's buffers, filled with the pattern: the content of each position. Host and device
// code share this file.
#pragma once

#include <cstdint>

#include "core/converted_pattern.hpp"
#include "core/host_device.hpp"
#include "core/patterned_batch.hpp"
#include "core/strided.hpp"

namespace cornerturn {

// Positions and strides count elements. Position 0 is the first byte of the buffer. Guard bytes fill every position
// without an element, including those before the first element. The source of a copy has no gaps, and its rank is 0: it
// is one run of different elements, numbered by the pattern. Each element of the destination has the index of the
// source element that the copy moves there.
//
// A conversion's source and destination hold other values: core/converted_pattern.hpp. Each element of the destination
// then also has a factor: its index along the axis of the scales and biases.
struct patterned_tensor {
    int element_size = 1;
    std::uint64_t seed = 1;
    bool poison = false;       // each element's complement
    bool finite_only = false;  // no NaN, infinity or denormal; not of a conversion
    bool is_source = false;
    element_conversion conversion{};
    std::int64_t offset = 0;  // position of the first element
    std::int64_t run = 0;     // elements that are contiguous on both sides; 0: the tensor is empty
    std::int64_t first = 0;   // the first element's index in the pattern
    std::int64_t factor = 0;  // and its factor
    int rank = 0;
    strided_axis axes[kMostAxes];  // by `destination`, the smallest first; each exceeds the span of those before it

    CORNERTURN_HOST_DEVICE bool empty() const { return run == 0; }
    CORNERTURN_HOST_DEVICE std::int64_t positions() const {
        if (empty()) return 0;
        std::int64_t last = offset + run;
        for (int i = 0; i < rank; ++i) last += (axes[i].extent - 1) * axes[i].destination;
        return last;
    }
    std::int64_t bytes() const { return positions() * element_size; }

    // `left` positions of one kind: a gap, or elements. The first element has `index` in the pattern. Each following
    // element's index is larger by `index_stride`, which may be negative; and so its factor.
    struct stretch {
        bool is_gap;
        std::int64_t index, index_stride, left, factor = 0, factor_stride = 0;
    };
    // The stretch that begins at this position.
    CORNERTURN_HOST_DEVICE stretch at(std::int64_t position) const {
        if (position < offset) return {true, 0, 0, offset - position};
        std::int64_t rest = position - offset, index = first, number = factor, digit = 0;
        for (int i = rank; i-- > 0;) {
            digit = rest / axes[i].destination;
            if (digit >= axes[i].extent) digit = axes[i].extent - 1;
            rest -= digit * axes[i].destination;
            index += digit * axes[i].source;
            number += digit * axes[i].factor;
        }
        if (rest >= run) return {true, 0, 0, 1};
        if (run == 1 && rank > 0 && axes[0].destination == 1)
            return {false, index, axes[0].source, axes[0].extent - digit, number, axes[0].factor};
        return {false, index + rest, 1, run - rest, number, 0};
    }
};

// Elements that no factor changes.
template <class Elements>
struct without_factors {
    Elements elements;

    CORNERTURN_HOST_DEVICE int size() const { return elements.size(); }
    CORNERTURN_HOST_DEVICE void put(unsigned char* at, std::uint64_t index, std::int64_t) const {
        elements.put(at, index);
    }
    CORNERTURN_HOST_DEVICE bool holds(const unsigned char* at, std::uint64_t index, std::int64_t) const {
        return elements.holds(at, index);
    }
};

// Calls f with an object that writes and recognises the elements of the tensor.
template <class F>
auto with_tensor_elements(const patterned_tensor& tensor, F f) {
    if (tensor.conversion.cast.converts())
        return f(
            converted_elements{tensor.seed, tensor.poison, tensor.is_source, tensor.conversion, tensor.element_size});
    return with_elements(tensor, [&](auto elements) { return f(without_factors<decltype(elements)>{elements}); });
}

// These run in host memory, on several threads.
void fill(unsigned char* buffer, const patterned_tensor& tensor);
// Positions and bytes count from the start of the buffer.
wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor);
// The same, but elements may also hold the value from before the kernel ran, which `before` describes: the same tensor
// at that time. Sets `written` to the number of elements that hold the expected value.
wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor, const patterned_tensor& before,
                           std::int64_t& written);

}  // namespace cornerturn
