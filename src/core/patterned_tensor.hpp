// A tensor in a buffer of the verifier's, filled with the pattern: what stands at each position. Host and device code
// share it.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"
#include "core/patterned_batch.hpp"
#include "core/strided.hpp"

namespace cornerturn {

// Positions and strides count elements; positions count from the first byte of the buffer. Guard bytes stand wherever
// no element does, also before the first. The source of a copy is a tensor without gaps or axes: each of its positions
// holds an element of its own, and the pattern counts them. Its copy holds what the strides of the source lead to.
struct patterned_tensor {
    int element_size = 1;
    std::uint64_t seed = 1;
    bool poison = false;      // each element's opposite
    bool numbers = false;     // no NaN, infinity or denormal
    std::int64_t offset = 0;  // position of the first element
    std::int64_t run = 0;     // elements behind each other, on both sides; 0: there are none
    std::int64_t first = 0;   // which element of the pattern the first one is
    int rank = 0;
    strided_axis axes[kMostAxes];  // by `destination`, the smallest first; each steps beyond all that those before span

    CORNERTURN_HOST_DEVICE bool empty() const { return run == 0; }
    CORNERTURN_HOST_DEVICE std::int64_t positions() const {
        if (empty()) return 0;
        std::int64_t last = offset + run;
        for (int i = 0; i < rank; ++i) last += (axes[i].extent - 1) * axes[i].destination;
        return last;
    }
    std::int64_t bytes() const { return positions() * element_size; }

    // What lies at a position: an element of the pattern and, `left` positions on, others, each `step` further on in
    // the pattern; or a gap.
    struct place {
        bool is_gap;
        std::int64_t index, step, left;
    };
    CORNERTURN_HOST_DEVICE place at(std::int64_t position) const {
        if (position < offset) return {true, 0, 0, offset - position};
        std::int64_t rest = position - offset, index = first, digit = 0;
        for (int i = rank; i-- > 0;) {
            digit = rest / axes[i].destination;
            if (digit >= axes[i].extent) digit = axes[i].extent - 1;
            rest -= digit * axes[i].destination;
            index += digit * axes[i].source;
        }
        if (rest >= run) return {true, 0, 0, 1};
        if (run == 1 && rank > 0 && axes[0].destination == 1)
            return {false, index, axes[0].source, axes[0].extent - digit};
        return {false, index + rest, 1, run - rest};
    }
};

// In host memory; several threads share the work.
void fill(unsigned char* buffer, const patterned_tensor& tensor);
// The lowest position of a wrong element, and the lowest byte of a gap that was overwritten, from the buffer's first.
wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor);
// The same, where elements may still be as they were `before`, the same tensor. Counts those that are not so.
wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor, const patterned_tensor& before,
                           std::int64_t& written);

}  // namespace cornerturn
