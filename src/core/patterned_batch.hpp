// Matrices in a buffer of the verifier's, filled with the pattern: where each element lies, and which it is. Host and
// device code share it.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "core/pattern.hpp"

namespace cornerturn {

// Where an element lies in a batch.
struct coordinates {
    std::int64_t matrix, row, col;
};

// Which element of a source stands where in its destination: counted along the source's rows, element (row, col) of the
// destination is number first + row * row_step + col * col_step.
struct element_order {
    std::int64_t first, row_step, col_step;

    friend bool operator==(const element_order&, const element_order&) = default;
};
// The same for a destination of rows x cols.
struct arrangement {
    std::int64_t rows, cols;
    element_order order;

    friend bool operator==(const arrangement&, const arrangement&) = default;
};
// Of a source of rows x cols.
constexpr arrangement copied(std::int64_t rows, std::int64_t cols) { return {rows, cols, {0, cols, 1}}; }
constexpr arrangement transposed(std::int64_t rows, std::int64_t cols) { return {cols, rows, {0, 1, cols}}; }

// Matrices that hold the pattern. Guard bytes stand in the gaps behind their rows, and before the first element, which
// lies `offset` elements into its buffer. Positions count elements from there.
struct patterned_batch : batch_layout {
    int element_size;
    std::uint64_t seed;
    std::int64_t offset;
    element_order order;
    bool poison;   // each element's opposite
    bool numbers;  // no NaN, infinity or denormal

    CORNERTURN_HOST_DEVICE bool empty() const { return is_empty(*this); }

    CORNERTURN_HOST_DEVICE std::int64_t position(coordinates at) const {
        return at.matrix * stride + at.row * ld + at.col;
    }
    // Positions from the first element to the last, with the gaps between.
    CORNERTURN_HOST_DEVICE std::int64_t positions() const { return empty() ? 0 : batch_span(*this); }
    std::int64_t bytes() const { return empty() ? 0 : (offset + positions()) * element_size; }

    // Which element of the pattern stands there: they count along the source's rows, matrix after matrix.
    CORNERTURN_HOST_DEVICE std::uint64_t index(coordinates at) const {
        return static_cast<std::uint64_t>(at.matrix * rows * cols + order.first + at.row * order.row_step +
                                          at.col * order.col_step);
    }

    // The rows of all the matrices, in the order of their addresses: where each begins.
    std::int64_t lines() const { return rows * count; }
    coordinates line(std::int64_t i) const {
        return behind_each_other(*this) ? coordinates{i / rows, i % rows, 0} : coordinates{i % count, i / count, 0};
    }
    coordinates line_behind(coordinates line) const {
        const bool beside = !behind_each_other(*this);
        std::int64_t &inner = beside ? line.matrix : line.row, &outer = beside ? line.row : line.matrix;
        if (++inner == (beside ? count : rows)) {
            inner = 0;
            ++outer;
        }
        return line;
    }

    // What lies at a position; from column cols on it is the gap behind the row.
    CORNERTURN_HOST_DEVICE coordinates coordinates_at(std::int64_t where) const {
        const bool beside = !behind_each_other(*this);
        const std::int64_t outer = beside ? ld : stride, inner = beside ? stride : ld;
        const std::int64_t last = (beside ? count : rows) - 1;
        const std::int64_t i = where / outer, next = where % outer / inner, j = next < last ? next : last;
        const coordinates line = beside ? coordinates{j, i, 0} : coordinates{i, j, 0};
        return {line.matrix, line.row, where - position(line)};
    }
};

// Calls f with what writes and recognises the elements of a batch, or of a patterned_tensor.
template <class Patterned, class F>
auto with_elements(const Patterned& batch, F f) {
    switch (batch.element_size) {
        case 1: return f(typed_elements<std::uint8_t>{batch.seed, batch.poison, batch.numbers});
        case 2: return f(typed_elements<std::uint16_t>{batch.seed, batch.poison, batch.numbers});
        case 4: return f(typed_elements<std::uint32_t>{batch.seed, batch.poison, batch.numbers});
        case 8: return f(typed_elements<std::uint64_t>{batch.seed, batch.poison, batch.numbers});
        case 16: return f(typed_elements<bits128>{batch.seed, batch.poison, batch.numbers});
        default: return f(sized_elements{batch.seed, batch.poison, batch.element_size});
    }
}

// The lowest position of a wrong element, and the lowest byte of a gap that was overwritten, counted from the first
// element; kNothingWrong if there is none.
struct wrong_positions {
    unsigned long long element, gap;
};
inline constexpr unsigned long long kNothingWrong = ~0ull;

}  // namespace cornerturn
