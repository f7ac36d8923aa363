// Lists of squares of lines, in an order that keeps all of memory's banks busy.
#pragma once

#include "host/job.hpp"

namespace cornerturn::host {

inline constexpr std::int64_t kRowsAtATime = 64;  // rows of the source whose pieces are read at a time, at any distance
inline constexpr int kMostSquares = 64;           // in a list

// Squares of one or two strips, one below the other: `squares` of them side by side, at each of a few positions.
struct patch {
    const byte* source;
    byte* destination;
    std::int64_t strips, squares, positions;
    std::int64_t apart;  // in columns, from one position to the next
    const byte* next;    // the next patch, of the same form; null: it belongs to another thread, or is far away
    // If lines are joined:
    byte* waiting = nullptr;            // for all columns; null: lines are not joined
    bool begins = false, ends = false;  // the first strip is the first of all; the last strip is the last of all
};

// How many strips of `side` rows each should be transposed together.
std::int64_t strips_at_a_time(std::int64_t side, std::ptrdiff_t source_pitch);

void transpose_squares(const job& j, const patch& p);

// Transposes whole groups of squares of one strip, from its beginning. Returns how many squares it transposed.
using transpose_strip_function = std::int64_t (*)(const job& j, const byte* source, byte* destination,
                                                  std::int64_t squares);

// A function that is faster than transpose_squares() for unfavourable distances of rows. Null: there is none.
transpose_strip_function transpose_strip_for(const job& j);

}  // namespace cornerturn::host
