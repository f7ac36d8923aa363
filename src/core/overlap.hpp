// Whether two batches of matrices share a byte of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/batch.hpp"

namespace cornerturn {

// Runs of `length` bytes, on two axes: `outer` counts groups of runs, `inner` counts the runs of a group. Steps are in
// bytes.
struct lattice {
    struct axis {
        std::int64_t count, step;
    };
    std::uintptr_t begin;
    axis outer, inner;
    std::int64_t length;

    // The same bytes, with the longer step outside: matrices may be one after another or side by side. A single axis is
    // the inner one. An axis with step 0 repeats the same run, so its count becomes 1.
    lattice ordered() const {
        lattice result = *this;
        for (axis* each : {&result.outer, &result.inner}) each->count = each->step == 0 ? 1 : each->count;
        if (result.inner.count == 1 || (result.outer.count > 1 && result.outer.step < result.inner.step))
            std::swap(result.outer, result.inner);
        return result;
    }
    std::int64_t inner_extent() const { return (inner.count - 1) * inner.step + length; }
    std::uintptr_t end() const {
        return begin + static_cast<std::uintptr_t>((outer.count - 1) * outer.step + inner_extent());
    }
};

// The bytes of a batch at `address`.
inline lattice bytes_of(const batch_layout& b, std::uintptr_t address, std::int64_t element_size) {
    return {address,
            {b.count, b.count > 1 ? b.stride * element_size : 0},
            {b.rows, b.rows > 1 ? b.ld * element_size : 0},
            b.cols * element_size};
}

// Range i of the axis is [i * step, i * step + extent), in bytes. Calls f(i) for the ranges that touch [from, to) until
// f returns true.
template <class F>
bool any_touched(lattice::axis axis, std::int64_t extent, std::int64_t from, std::int64_t to, F f) {
    if (to <= 0) return false;
    const std::int64_t step = std::max<std::int64_t>(axis.step, 1);
    const std::int64_t first = from < extent ? 0 : (from - extent) / step + 1;
    const std::int64_t last = std::min(axis.count - 1, (to - 1) / step);
    for (std::int64_t i = first; i <= last; ++i) {
        if (f(i)) return true;
    }
    return false;
}

__extension__ using wide = __int128;

// The sum of floor((a * i + b) / m) for i from 0 to n - 1. No argument may be negative. Like Euclid's algorithm, it
// takes few steps.
inline wide sum_of_quotients(wide n, wide m, wide a, wide b) {
    wide sum = 0;
    while (n > 0) {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        a %= m;
        b %= m;
        const wide reached = a * n + b;
        n = reached / m;
        b = reached % m;
        std::swap(m, a);
    }
    return sum;
}

// The k, from 0 to count - 1, for which from <= begin + k * step <= to.
struct index_range {
    std::int64_t first, last;

    index_range(wide begin, lattice::axis axis, wide from, wide to) {
        const wide step = std::max<std::int64_t>(axis.step, 1);
        first =
            from <= begin ? 0 : static_cast<std::int64_t>(std::min<wide>((from - begin + step - 1) / step, axis.count));
        last = to < begin ? -1 : static_cast<std::int64_t>(std::min<wide>((to - begin) / step, axis.count - 1));
    }
    bool is_empty() const { return first > last; }
};

// Whether any run of a overlaps any run of b. The first run of a begins `begin` bytes after the first run of b.
inline bool runs_meet(std::int64_t begin, lattice::axis a, std::int64_t length_a, lattice::axis b,
                      std::int64_t length_b) {
    // A run of a at x overlaps a run of b at y if x - length_b < y < x + length_a. First, runs of a that overlap b's
    // first or last run.
    const wide end = static_cast<wide>(b.count - 1) * b.step;
    for (const wide y : {wide{0}, end}) {
        if (!index_range(begin, a, y - length_a + 1, y + length_b - 1).is_empty()) return true;
    }
    // Then, runs of a that lie between b's ends: count the multiples of b's step in the ranges of y.
    const index_range between(begin, a, length_b, end - length_a);
    if (between.is_empty()) return false;
    const wide count = between.last - between.first + 1, x = begin + static_cast<wide>(between.first) * a.step;
    return sum_of_quotients(count, b.step, a.step, x + length_a - 1) >
           sum_of_quotients(count, b.step, a.step, x - length_b);
}

// The result is exact. The time grows with the outer counts, not with the inner ones.
inline bool share_bytes(const lattice& a, const lattice& b) {
    if (a.end() <= b.begin || b.end() <= a.begin) return false;
    lattice few = a.ordered(), many = b.ordered();
    if (few.outer.count > many.outer.count) std::swap(few, many);
    const auto offset = static_cast<std::int64_t>(few.begin - many.begin);
    const auto span = static_cast<std::int64_t>(many.end() - many.begin);
    return any_touched(few.outer, few.inner_extent(), -offset, span - offset, [&](std::int64_t i) {
        const std::int64_t from = offset + i * few.outer.step;
        return any_touched(many.outer, many.inner_extent(), from, from + few.inner_extent(), [&](std::int64_t k) {
            return runs_meet(from - k * many.outer.step, few.inner, few.length, many.inner, many.length);
        });
    });
}

}  // namespace cornerturn
