// The vector functions of the host's copies, chosen for the processor at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/shuffle_order.hpp"

namespace cornerturn::host {

using byte = unsigned char;
inline constexpr int kLineBytes = 64, kBlockBytes = 16;
inline constexpr std::int64_t kPageBytes = 4096;

// to[col * to_pitch + row * size] = from[row * from_pitch + col * size] for all rows and cols, with elements of `size`
// bytes. Writes nothing else. Reads only the rows. If they are packed, it may read past a row's
// end into the next one.
using transpose_tile_function = void (*)(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                                         std::int64_t rows, std::int64_t cols, std::int64_t size);

// As many rows and columns as a line has elements. Each row of the destination gets a line.
struct square {
    const byte* from;
    byte* to;           // of its first column
    const byte* fetch;  // rows_of_fetch() rows of lines_of_fetch() lines each, to be transposed later; null: none
    // If lines are joined:
    byte* waiting;      // for each column, as many bytes as a line, which come before `to`
    bool begins, ends;  // nothing waits before it; nothing will wait after it
};
inline constexpr int kFetchedLines = 8;

// How a square of `side` rows fetches `side` lines: this many side by side in a row, and this many rows.
constexpr int lines_of_fetch(int side) { return side < kFetchedLines ? side : kFetchedLines; }
constexpr int rows_of_fetch(int side) { return side / lines_of_fetch(side); }

// Like transpose_tile_function for squares, but straight past the caches. `to` and to_pitch are aligned to a line. Call
// end_stream() at the end. Null unless elements have 1, 2, 4, 8 or 16 bytes, or if it would not be faster.
using transpose_lines_function = void (*)(const square* squares, int count, std::ptrdiff_t from_pitch,
                                          std::ptrdiff_t to_pitch);

// Squares of one strip, side by side. They go through tiles, in which they follow each other.
struct square_run {
    const byte* from;  // to be transposed into `tile`
    byte* tile;
    const byte* next;        // as many squares to fetch; null: none
    const byte* transposed;  // a tile to stream to `to` meanwhile; null: none
    byte* to;
    int squares;
};

// Streams one column of each square, then the next column of each. Its rules for alignment, end_stream() and null are
// those of transpose_lines_function.
using transpose_run_function = void (*)(const square_run& run, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch);

// Squares of one strip, side by side, whose rows were copied: pieces of the rows follow each other in the copy.
inline constexpr int kCopiedSquares = 8;
struct copied_squares {
    const byte* copied;
    byte* to;
    const byte* next;  // as many squares, whose pieces are copied to `copy` meanwhile; null: none
    byte* copy;
    const byte* after;  // the squares after those, to fetch; null: none
};

// With each line that it streams, it copies a line of the next squares. Alignment, end and null as
// transpose_lines_function. Also null for elements of more than 2 bytes.
using transpose_copied_function = void (*)(const copied_squares& squares, std::ptrdiff_t from_pitch,
                                           std::ptrdiff_t to_pitch);

// Copies past the caches, from any address to any address. Parts of lines of `to` are copied as usual. Call
// end_stream() at the end. With each streamed line it fetches a line from `next`, so that memory always has requests.
// Null: fetches none.
using stream_function = void (*)(const byte* from, byte* to, std::int64_t bytes, const byte* next);

// Copies `lines` lines of each piece past the caches, beginning with the line that contains `to`. The bytes before `to`
// in its cache line come from the end of the piece's line in `waiting`. The piece's last line then replaces that line.
// It also reads up to a line around a piece and around `waiting`. Call end_stream() at the end. After each piece it
// fetches as many lines from `next` on, one piece after the other. Null: fetches none.
using stream_joined_function = void (*)(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                                        byte* waiting, std::int64_t pieces, std::int64_t lines, const byte* next);

// transpose_lines_function and stream_joined_function in one. `to` is at any address. Each row of the destination gets
// a line that joins what waits for it with what is transposed.
using transpose_joined_function = transpose_lines_function;

// Lines to fetch meanwhile, from number `first` on: those at here + at[i], and after the last of these, those at
// next + at[i].
struct fetched_lines {
    const byte *here, *next;
    const std::ptrdiff_t* at;
    std::int64_t lines;
    std::int64_t first, count;
};

// Fetches lines `begin` to `end` of them into the second-level cache. The nearest cache needs its lines for other data.
[[gnu::always_inline]] inline void fetch(const fetched_lines& f, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = f.first + begin; i < f.first + end; ++i)
        __builtin_prefetch(i < f.lines ? f.here + f.at[i] : f.next + f.at[i - f.lines], 0, 2);
}

// to[cols_at[col] + row * step] = from[rows_at[row] + col * size].
// The least elements along a row of the destination that vectors can transpose.
inline constexpr std::int64_t rows_of_vectors(std::int64_t size) { return size % 3 == 0 ? 2 : 16 / size; }

inline constexpr std::int64_t kMostLoose = 16;
struct listed_move {
    const byte* from;
    byte* to;
    const std::ptrdiff_t *rows_at, *cols_at;
    std::int64_t rows, cols, size;
    std::ptrdiff_t step;
    bool loose;  // kMostLoose bytes after each element can be read too
    fetched_lines fetch;
};
// Rows that are gathered at a time, by the number of columns. Few rows, so that little data must be in the caches.
constexpr std::int64_t gathered_rows(std::int64_t cols) { return cols < 4 ? 256 : cols < 64 ? 1024 / cols : 16; }

using listed_function = void (*)(const listed_move& move);

// Puts the bytes of groups into another order. Groups are `step` bytes apart in the source and `to_step` in the
// destination. The last one may be shorter. This is done for every pair of positions: from entry i of the source's
// list to entry i of the destination's.
struct shuffled_move {
    const byte* from;
    byte* to;
    const std::ptrdiff_t *from_at, *to_at;
    std::int64_t places, groups;  // whole groups
    std::ptrdiff_t step, to_step;
    const shuffle_order *order, *last;  // of whole groups, and of the shorter one; null: there is none
    fetched_lines fetch;
};
using shuffle_function = void (*)(const shuffled_move& move);

struct kernels {
    transpose_tile_function transpose_tile;
    listed_function gather;  // element by element
    // In vectors: step is size, and rows fill a block of 16 bytes. Null: not for such elements.
    listed_function transpose_listed;
    // Past the caches: `to` and all columns begin lines, and rows are whole lines. Null: not for such elements.
    listed_function stream_listed;
    std::int64_t least_streamed;  // the least columns that it takes
    shuffle_function shuffle;     // may be null too
    shuffle_blocks shuffled_by;
    transpose_lines_function transpose_lines;
    transpose_run_function transpose_run;
    transpose_copied_function transpose_copied;
    transpose_joined_function transpose_joined;
    stream_function stream;
    stream_joined_function stream_joined;
    const char* target;  // the instruction set, in Highway's words
};

inline std::ptrdiff_t in_line(const byte* address) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

// Bytes to the end of the address's line. 0 if the address begins a line.
inline std::ptrdiff_t to_next_line(const byte* address) { return (kLineBytes - in_line(address)) % kLineBytes; }

// For elements of `size` bytes.
kernels kernels_for(std::int64_t size);

// Makes what was streamed visible to other threads.
void end_stream();

}  // namespace cornerturn::host
