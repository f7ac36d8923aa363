// Whether two batches of matrices share a byte of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/batch.hpp"

namespace cornerturn {

// Runs of `length` bytes: `outer` many groups of `inner` many runs, each so many bytes behind the one before.
struct lattice {
    struct axis {
        std::int64_t count, step;
    };
    std::uintptr_t begin;
    axis outer, inner;
    std::int64_t length;

    // The axis with the longer step outside: matrices may lie behind each other, or side by side.
    lattice ordered() const {
        lattice result = *this;
        if (result.outer.count > 1 && result.outer.step < result.inner.step) std::swap(result.outer, result.inner);
        return result;
    }
    std::int64_t inner_extent() const { return (inner.count - 1) * inner.step + length; }
    std::uintptr_t end() const {
        return begin + static_cast<std::uintptr_t>((outer.count - 1) * outer.step + inner_extent());
    }
};

// The bytes of a batch that begins at this address.
inline lattice bytes_of(const batch_layout& b, std::uintptr_t address, std::int64_t element_size) {
    return {address,
            {b.count, b.count > 1 ? b.stride * element_size : 0},
            {b.rows, b.rows > 1 ? b.ld * element_size : 0},
            b.cols * element_size};
}

// Of `count` extents `step` bytes apart, the first being [0, extent): calls f(i) for those that touch [from, to), until
// one says true.
template <class F>
bool any_touched(lattice::axis axis, std::int64_t extent, std::int64_t from, std::int64_t to, F f) {
    const std::int64_t step = std::max<std::int64_t>(axis.step, 1);
    const std::int64_t first = from < extent ? 0 : (from - extent) / step + 1;
    const std::int64_t last = std::min(axis.count - 1, (to - 1) / step);
    for (std::int64_t i = first; i <= last; ++i) {
        if (f(i)) return true;
    }
    return false;
}

// Whether a run [from, to), counted from the lattice's beginning, touches one of its runs.
inline bool touches(const lattice& l, std::int64_t from, std::int64_t to) {
    if (to <= 0) return false;
    return any_touched(l.outer, l.inner_extent(), from, to, [&](std::int64_t i) {
        const std::int64_t a = from - i * l.outer.step, b = to - i * l.outer.step;
        return b > 0 && any_touched(l.inner, l.length, a, b, [](std::int64_t) { return true; });
    });
}

// Exact. Quick where the spans are apart, as they nearly always are, and for two parts of one larger matrix; else it
// looks at the runs of the one that has fewer.
inline bool share_bytes(const lattice& a, const lattice& b) {
    if (a.end() <= b.begin || b.end() <= a.begin) return false;
    lattice few = a.ordered(), many = b.ordered();
    if (few.outer.count * few.inner.count > many.outer.count * many.inner.count) std::swap(few, many);
    const auto offset = static_cast<std::int64_t>(few.begin - many.begin);
    const auto span = static_cast<std::int64_t>(many.end() - many.begin);
    // Rows of the same length see the same of each other, but where one matrix begins or ends.
    const bool alike = many.outer.count == 1 && few.inner.step == many.inner.step;
    for (std::int64_t i = 0; i < few.outer.count; ++i) {
        const std::int64_t begin = offset + i * few.outer.step, step = std::max<std::int64_t>(few.inner.step, 1);
        const std::int64_t first = begin + few.length > 0 ? 0 : (-begin - few.length) / step + 1;
        const std::int64_t last = begin < span ? std::min(few.inner.count - 1, (span - 1 - begin) / step) : -1;
        for (std::int64_t k = first; k <= last; ++k) {
            if (alike && k == first + 2 && k < last - 1) k = last - 1;
            if (touches(many, begin + k * few.inner.step, begin + k * few.inner.step + few.length)) return true;
        }
    }
    return false;
}

}  // namespace cornerturn
