// Lists of squares of lines, in an order that keeps all of memory busy.
#pragma once

#include "host/job.hpp"

namespace cornerturn::host {

inline constexpr std::int64_t kRowsAtATime = 64;  // of the source: pieces of them, wherever they are
inline constexpr int kMostSquares = 64;           // in a list

// Squares of one or two strips under each other, of which there are so many side by side at each of a few positions.
struct patch {
    const byte* source;
    byte* destination;
    std::int64_t strips, squares, positions;
    std::int64_t apart;  // columns, from one position to the next
    const byte* next;    // the patch that comes next, of the same form; null: it is another thread's, or far off
    // Where lines are joined.
    byte* waiting = nullptr;            // of all columns; null: they are not
    bool begins = false, ends = false;  // the first strip is the first of all, the last one the last
};

// How many strips of so many rows each had better be transposed together.
std::int64_t strips_at_a_time(std::int64_t side, std::ptrdiff_t source_pitch);

void transpose_squares(const job& j, const patch& p);

// Transposes as many squares of one strip, from its first on, as are whole groups of them. Returns how many those were.
using transpose_strip_function = std::int64_t (*)(const job& j, const byte* source, byte* destination,
                                                  std::int64_t squares);

// What is quicker than transpose_squares() where rows lie badly; null: nothing is.
transpose_strip_function transpose_strip_for(const job& j);

}  // namespace cornerturn::host
