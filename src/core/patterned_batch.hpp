// Matrices in one of the verifier's buffers, filled with the pattern: the position of each element, and its index in
// the pattern. Host and device code share this file.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "core/pattern.hpp"

namespace cornerturn {

// An element's place in a batch.
struct coordinates {
    std::int64_t matrix, row, col;
};

// The order of a source's elements in its destination. Element (row, col) of the destination is element number
// first + row * row_step + col * col_step of the source, counted along the source's rows.
struct element_order {
    std::int64_t first, row_step, col_step;

    friend bool operator==(const element_order&, const element_order&) = default;
};
// The shape of a destination, and its order.
struct arrangement {
    std::int64_t rows, cols;
    element_order order;

    friend bool operator==(const arrangement&, const arrangement&) = default;
};
// The destination of a source of rows x cols.
constexpr arrangement copied(std::int64_t rows, std::int64_t cols) { return {rows, cols, {0, cols, 1}}; }
constexpr arrangement transposed(std::int64_t rows, std::int64_t cols) { return {cols, rows, {0, 1, cols}}; }

// Matrices that hold the pattern. The first element is at `offset` in the buffer, counted in elements. Guard bytes fill
// the space before it, and the gaps after the rows. Positions count elements from the first one.
struct patterned_batch : batch_layout {
    int element_size;
    std::uint64_t seed;
    std::int64_t offset;
    element_order order;
    bool poison;       // each element's complement
    bool finite_only;  // no NaN, infinity or denormal

    CORNERTURN_HOST_DEVICE bool empty() const { return is_empty(*this); }

    CORNERTURN_HOST_DEVICE std::int64_t position(coordinates at) const {
        return at.matrix * stride + at.row * ld + at.col;
    }
    // Positions from the first element to the last, including the gaps.
    CORNERTURN_HOST_DEVICE std::int64_t positions() const { return empty() ? 0 : batch_span(*this); }
    std::int64_t bytes() const { return empty() ? 0 : (offset + positions()) * element_size; }

    // The element's index in the pattern, which counts along the source's rows, matrix after matrix.
    CORNERTURN_HOST_DEVICE std::uint64_t index(coordinates at) const {
        return static_cast<std::uint64_t>(at.matrix * rows * cols + order.first + at.row * order.row_step +
                                          at.col * order.col_step);
    }

    // The rows of all matrices, in the order of their addresses. row_start(i) is the first element of row i.
    std::int64_t row_count() const { return rows * count; }
    coordinates row_start(std::int64_t i) const {
        return one_after_another(*this) ? coordinates{i / rows, i % rows, 0} : coordinates{i % count, i / count, 0};
    }
    // The start of the next row.
    coordinates row_after(coordinates start) const {
        const bool is_beside = !one_after_another(*this);
        std::int64_t &inner = is_beside ? start.matrix : start.row, &outer = is_beside ? start.row : start.matrix;
        if (++inner == (is_beside ? count : rows)) {
            inner = 0;
            ++outer;
        }
        return start;
    }

    // The coordinates of a position. A column of `cols` or more is in the gap after the row.
    CORNERTURN_HOST_DEVICE coordinates coordinates_at(std::int64_t at) const {
        const bool is_beside = !one_after_another(*this);
        const std::int64_t outer = is_beside ? ld : stride, inner = is_beside ? stride : ld;
        const std::int64_t last = (is_beside ? count : rows) - 1;
        const std::int64_t i = at / outer, next = at % outer / inner, j = next < last ? next : last;
        const coordinates start = is_beside ? coordinates{j, i, 0} : coordinates{i, j, 0};
        return {start.matrix, start.row, at - position(start)};
    }
};

// Calls f with an object that writes and recognises the elements of a patterned_batch or a patterned_tensor.
template <class Patterned, class F>
auto with_elements(const Patterned& batch, F f) {
    switch (batch.element_size) {
        case 1: return f(typed_elements<std::uint8_t>{batch.seed, batch.poison, batch.finite_only});
        case 2: return f(typed_elements<std::uint16_t>{batch.seed, batch.poison, batch.finite_only});
        case 4: return f(typed_elements<std::uint32_t>{batch.seed, batch.poison, batch.finite_only});
        case 8: return f(typed_elements<std::uint64_t>{batch.seed, batch.poison, batch.finite_only});
        case 16: return f(typed_elements<bits128>{batch.seed, batch.poison, batch.finite_only});
        default: return f(sized_elements{batch.seed, batch.poison, batch.element_size});
    }
}

// The lowest position of a wrong element, and the lowest overwritten byte of a gap, counted from the first element.
// kNothingNoted if there is none.
struct wrong_positions {
    unsigned long long element, gap;
};
inline constexpr unsigned long long kNothingNoted = ~0ull;

}  // namespace cornerturn
