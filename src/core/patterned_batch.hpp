// Matrices in a buffer of the verifier's, filled with the pattern: where each element lies, and which it is. Host and
// device code share it.
#pragma once

#include <cstdint>

#include "core/pattern.hpp"

namespace cornerturn {

struct place {
    std::int64_t matrix, row, col;
};

// `count` matrices of rows x cols, as in matrix_work: one behind the other, or side by side in the rows of a larger
// one. Guard bytes stand in the gaps behind their rows, and before the first element, which lies `offset` elements into
// its buffer. Positions count elements from there.
struct patterned_batch {
    int element_size;
    std::uint64_t seed;
    std::int64_t rows, cols, ld, count, stride, offset;
    bool transposed;  // a matrix that a transpose has written
    bool poison;      // each element's opposite
    bool numbers;     // no NaN, infinity or denormal

    CORNERTURN_HOST_DEVICE bool empty() const { return rows == 0 || cols == 0 || count == 0; }
    CORNERTURN_HOST_DEVICE bool side_by_side() const { return stride < (rows - 1) * ld + cols; }

    CORNERTURN_HOST_DEVICE std::int64_t position(place at) const { return at.matrix * stride + at.row * ld + at.col; }
    // Positions from the first element to the last, with the gaps between.
    CORNERTURN_HOST_DEVICE std::int64_t positions() const {
        return empty() ? 0 : position({count - 1, rows - 1, cols});
    }
    std::int64_t bytes() const { return empty() ? 0 : (offset + positions()) * element_size; }

    // Which element of the pattern stands there: they count along the source's rows, matrix after matrix.
    CORNERTURN_HOST_DEVICE std::uint64_t index(place at) const {
        const std::int64_t in_matrix = transposed ? at.col * rows + at.row : at.row * cols + at.col;
        return static_cast<std::uint64_t>(at.matrix * rows * cols + in_matrix);
    }

    // The rows of all the matrices, in the order of their addresses: where each begins.
    std::int64_t lines() const { return rows * count; }
    place line(std::int64_t i) const {
        return side_by_side() ? place{i % count, i / count, 0} : place{i / rows, i % rows, 0};
    }
    place line_behind(place line) const {
        const bool beside = side_by_side();
        std::int64_t &inner = beside ? line.matrix : line.row, &outer = beside ? line.row : line.matrix;
        if (++inner == (beside ? count : rows)) {
            inner = 0;
            ++outer;
        }
        return line;
    }

    // What lies at a position; from column cols on it is the gap behind the row.
    CORNERTURN_HOST_DEVICE place place_at(std::int64_t where) const {
        const bool beside = side_by_side();
        const std::int64_t outer = beside ? ld : stride, inner = beside ? stride : ld;
        const std::int64_t last = (beside ? count : rows) - 1;
        const std::int64_t i = where / outer, next = where % outer / inner, j = next < last ? next : last;
        const place line = beside ? place{j, i, 0} : place{i, j, 0};
        return {line.matrix, line.row, where - position(line)};
    }
};

// Calls f with what writes and recognises the batch's elements.
template <class F>
auto with_elements(const patterned_batch& batch, F f) {
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
struct wrong_places {
    unsigned long long element, gap;
};
inline constexpr unsigned long long kNothingWrong = ~0ull;

}  // namespace cornerturn
