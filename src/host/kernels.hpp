// What the host transpose does in vectors, chosen for the processor at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/shuffle_order.hpp"

namespace cornerturn::host {

using byte = unsigned char;
inline constexpr int kLineBytes = 64, kBlockBytes = 16;
inline constexpr std::int64_t kPageBytes = 4096;

// to[col * to_pitch + row * size] = from[row * from_pitch + col * size] for all rows and cols, each element `size`
// bytes. Writes nothing else, and reads nothing but the rows and, where they are packed, what follows them among them.
using transpose_tile_function = void (*)(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                                         std::int64_t rows, std::int64_t cols, std::int64_t size);

// As many rows and columns as a line has elements: each row of the destination gets a line.
struct square {
    const byte* from;
    byte* to;           // of its first column
    const byte* fetch;  // of rows_of_fetch() lines_of_fetch() each, which are transposed a little later; null: of none
    // Where lines are joined.
    byte* waiting;      // for each column the line's worth before `to`
    bool begins, ends;  // nothing waits yet; nothing will
};
inline constexpr int kFetchedLines = 8;

// Of what a square of so many rows fetches, as many lines: those that lie side by side, and rows of them.
constexpr int lines_of_fetch(int side) { return side < kFetchedLines ? side : kFetchedLines; }
constexpr int rows_of_fetch(int side) { return side / lines_of_fetch(side); }

// As transpose_tile_function for squares, straight past the caches: `to` and to_pitch are aligned to a line. End with
// end_stream(). Null but for elements of 1, 2, 4, 8 and 16 bytes, or where it would be no quicker.
using transpose_lines_function = void (*)(const square* squares, int count, std::ptrdiff_t from_pitch,
                                          std::ptrdiff_t to_pitch);

// So many squares of one strip, side by side, by way of tiles, which hold one behind the other.
struct square_run {
    const byte* from;  // to be transposed into `tile`
    byte* tile;
    const byte* next;        // as many squares, to be fetched; null: there are none
    const byte* transposed;  // a tile that is streamed to `to` in the meantime; null: there is none
    byte* to;
    int squares;
};

// Streams of each square a column, then of each the next. Alignment, end and null as transpose_lines_function.
using transpose_run_function = void (*)(const square_run& run, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch);

// So many squares of one strip, side by side, of which a copy is transposed: pieces of their rows, one behind the
// other.
inline constexpr int kCopiedSquares = 8;
struct copied_squares {
    const byte* copied;
    byte* to;
    const byte* next;  // as many squares, whose pieces are copied to `copy` in the meantime; null: there are none
    byte* copy;
    const byte* after;  // those after that, to be fetched; null: there are none
};

// Copies a line of what comes next with each that it streams. Alignment, end and null as transpose_lines_function, and
// null for elements of more than 2 bytes.
using transpose_copied_function = void (*)(const copied_squares& squares, std::ptrdiff_t from_pitch,
                                           std::ptrdiff_t to_pitch);

// Copies past the caches, from anywhere to anywhere: what is no whole line of `to` as usual. End with end_stream(). As
// many lines are fetched from `next`, one with each that is streamed, so that memory is asked all along; null: none.
using stream_function = void (*)(const byte* from, byte* to, std::int64_t bytes, const byte* next);

// Copies so many lines of each piece past the caches, beginning with the line that `to` is in. What lies before it
// there is the end of the piece's line in `waiting`, which the piece's last line replaces. What lies around a piece and
// around `waiting`, as much as a line, is read, too. End as stream_function. After each piece as many lines are
// fetched, one piece's behind the other's, from `next` on; null: none.
using stream_joined_function = void (*)(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                                        byte* waiting, std::int64_t pieces, std::int64_t lines, const byte* next);

// As transpose_lines_function and stream_joined_function in one: `to` is anywhere, and each row of the destination gets
// a line of what waits for it and of what is transposed.
using transpose_joined_function = transpose_lines_function;

// Lines that are fetched in the meantime, from number `first` on of those that begin at here + at[i], and behind the
// last one of those at next + at[i].
struct fetched_lines {
    const byte *here, *next;
    const std::ptrdiff_t* at;
    std::int64_t lines;
    std::int64_t first, count;
};

// Those from number `begin` to `end` of them, into the second-level cache: the nearest has other uses for its lines.
[[gnu::always_inline]] inline void fetch(const fetched_lines& f, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = f.first + begin; i < f.first + end; ++i)
        __builtin_prefetch(i < f.lines ? f.here + f.at[i] : f.next + f.at[i - f.lines], 0, 2);
}

// to[cols_at[col] + row * step] = from[rows_at[row] + col * size].
// Elements must be so many, at least, along a row of the destination, to be transposed in vectors.
inline constexpr std::int64_t rows_of_vectors(std::int64_t size) { return size % 3 == 0 ? 2 : 16 / size; }

inline constexpr std::int64_t kMostLoose = 16;
struct listed_move {
    const byte* from;
    byte* to;
    const std::ptrdiff_t *rows_at, *cols_at;
    std::int64_t rows, cols, size;
    std::ptrdiff_t step;
    bool loose;  // kMostLoose bytes behind each element can be read, too
    fetched_lines fetch;
};
// Rows of so many columns that are gathered at a time: few, so that little has to be in the caches.
constexpr std::int64_t gathered_rows(std::int64_t cols) { return cols < 4 ? 256 : cols < 64 ? 1024 / cols : 16; }

using listed_function = void (*)(const listed_move& move);

// Groups, `step` bytes apart in the source and `to_step` in the destination, whose bytes are put into another order;
// the last one may be a shorter one. The same from each place of one list to that of the other.
struct shuffled_move {
    const byte* from;
    byte* to;
    const std::ptrdiff_t *from_at, *to_at;
    std::int64_t places, groups;  // whole ones
    std::ptrdiff_t step, to_step;
    const shuffle_order *order, *last;  // of whole groups, and of the shorter one; null: there is none
    fetched_lines fetch;
};
using shuffle_function = void (*)(const shuffled_move& move);

struct kernels {
    transpose_tile_function transpose_tile;
    listed_function gather;  // element by element
    listed_function
        transpose_listed;  // by way of vectors: step is size, and rows fill a block of 16 bytes. Null: there are none
    // Past the caches: `to` and all columns begin lines, and rows are whole ones. Null: not for such elements.
    listed_function stream_listed;
    std::int64_t least_streamed;  // columns that it takes
    shuffle_function shuffle;     // null, too
    shuffle_blocks shuffled_by;
    transpose_lines_function transpose_lines;
    transpose_run_function transpose_run;
    transpose_copied_function transpose_copied;
    transpose_joined_function transpose_joined;
    stream_function stream;
    stream_joined_function stream_joined;
    const char* target;  // the instructions that they use, in Highway's words
};

inline std::ptrdiff_t in_line(const byte* address) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

// To the end of the line that it is in; none where it begins one.
inline std::ptrdiff_t to_next_line(const byte* address) { return (kLineBytes - in_line(address)) % kLineBytes; }

// For elements of so many bytes.
kernels kernels_for(std::int64_t size);

// What was streamed is there for other threads.
void end_stream();

}  // namespace cornerturn::host
