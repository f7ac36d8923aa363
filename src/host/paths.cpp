#include "host/paths.hpp"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "host/kernels.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

// Bytes; docs/experiments.md has what was tried.
constexpr std::int64_t kStreamFrom = 8 * kMiB;   // of the destination: what is smaller had better stay in the caches
constexpr std::int64_t kTaskBytes = 256 * kKiB;  // at least: moved by a thread before it takes what comes next
constexpr std::int64_t kUnitBytes = 1 * kMiB;    // at most: of a strip of whole lines
constexpr std::int64_t kPanelCols = 512;         // of the source: what waits for its line stays in the nearest cache
constexpr std::int64_t kLeastPanelBytes = 1 * kKiB, kMostPanelBytes = 4 * kKiB;  // of a row of the source
constexpr std::int64_t kStripBytes = 16 * kKiB;                                  // of the source, at least
constexpr std::int64_t kStepBytes = 4 * kKiB;                                    // turned at a time
constexpr std::int64_t kImageBytes = 64 * kKiB;        // of whole rows of the destination, before they are streamed
constexpr std::int64_t kShortRow = 1 * kKiB;           // of the destination: streamed with its neighbours
constexpr std::int64_t kLeastRow = 256;                // of the destination: what is shorter is not streamed alone
constexpr std::int64_t kDirectBytes = 256;             // of a row of the destination, written at a time
constexpr std::int64_t kSwapBytes = 128;               // of a row of a tile that is swapped in place
constexpr std::int64_t kSwapTaskBytes = 1 * kMiB;      // as kTaskBytes, in place
constexpr std::int64_t kStreamSwapsFrom = 512 * kMiB;  // in place: what is smaller gains by the caches
constexpr std::int64_t kTileBytes = 1 * kKiB, kTileRows = 512;  // at most: of a tile that is streamed in place
constexpr std::int64_t kTileRowsAhead = 4;                      // of it, from what is read to what is fetched
constexpr std::int64_t kAheadBytes = 512;         // of a row, at most, from what is turned to what is fetched
constexpr std::int64_t kFetchedBytes = 4 * kKiB;  // of all rows that are turned at a time, at most, the same
constexpr std::int64_t kLargeElement = 4 * kKiB;  // in itself as good as a row: moved straight to its place
constexpr std::int64_t kCacheWayBytes = 128 * kKiB, kCacheWays = 16;  // of the second-level cache
constexpr std::int64_t kPageBytes = 4 * kKiB;
constexpr int kPanelStrips = 16;    // at least: the lines at either end of a panel are shared with others
constexpr int kTasksPerThread = 8;  // where what it costs to begin one matters

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void copy(const byte* from, byte* to, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }

// How far ahead to fetch of so many rows at a time.
std::ptrdiff_t ahead(std::int64_t rows) {
    return std::min(kAheadBytes, kFetchedBytes / rows / kLineBytes * kLineBytes);
}

// Always inlined: a call of what does nothing else has no effect to the compiler, which drops it.
[[gnu::always_inline]] inline void fetch_tile(const byte* from, std::ptrdiff_t pitch, std::int64_t rows,
                                              std::int64_t row_bytes) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t byte = 0; byte < row_bytes; byte += kLineBytes)
            __builtin_prefetch(from + row * pitch + byte, 0, 2);
    }
}

// Memory that a thread keeps from one call to the next. Aligned to a line.
byte* scratch(std::int64_t bytes) {
    struct free_aligned {
        void operator()(byte* p) const { ::operator delete(p, std::align_val_t(kLineBytes)); }
    };
    thread_local std::unique_ptr<byte, free_aligned> memory;
    thread_local std::int64_t size = 0;
    if (size < bytes) {
        memory.reset();
        size = 0;
        memory.reset(static_cast<byte*>(::operator new(static_cast<std::size_t>(bytes), std::align_val_t(kLineBytes))));
        size = bytes;
    }
    return memory.get();
}

// Calls body(i) for i in [0, count), where all of it moves `bytes`; in turn, so that what is done at the same time lies
// close together.
template <class Body>
void share_out(std::int64_t count, std::int64_t bytes, Body body, std::int64_t task_bytes = kTaskBytes) {
    const std::int64_t tasks = std::clamp<std::int64_t>(bytes / task_bytes, 1, count);
    std::atomic<std::int64_t> next = 0;
    const auto take = [&](std::int64_t) {
        for (std::int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
            for (std::int64_t i = count * t / tasks; i < count * (t + 1) / tasks; ++i) body(i);
        }
        end_stream();
    };
    const std::int64_t workers = std::min<std::int64_t>(tasks, tbb::this_task_arena::max_concurrency());
    if (workers == 1) {
        take(0);
    } else {
        tbb::parallel_for(std::int64_t{0}, workers, take, tbb::simple_partitioner());
    }
}

// The work, in bytes.
struct job {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols, size, count;              // of elements; bytes; matrices
    std::ptrdiff_t source_pitch, destination_pitch;    // from one row to the next
    std::ptrdiff_t source_stride, destination_stride;  // from one matrix to the next
    kernels use;

    explicit job(const matrix_work& w)
        : source(static_cast<const byte*>(w.source)),
          destination(static_cast<byte*>(w.destination)),
          rows(w.rows),
          cols(w.cols),
          size(w.element_size),
          count(w.count),
          source_pitch(w.source_ld * size),
          destination_pitch(w.destination_ld * size),
          source_stride(w.source_stride * size),
          destination_stride(w.destination_stride * size),
          use(kernels_for(size)) {}

    std::int64_t matrix_bytes() const { return rows * cols * size; }
    std::int64_t bytes() const { return matrix_bytes() * count; }
    const byte* source_at(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
        return source + matrix * source_stride + row * source_pitch + col * size;
    }
    byte* destination_at(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
        return destination + matrix * destination_stride + row * destination_pitch + col * size;
    }
    bool in_place() const { return source == destination; }
    // Rows and columns of a square of lines.
    std::int64_t side() const { return kLineBytes / size; }
    // Of the source, before the first whose elements begin a line in each row of the destination, if one does.
    std::int64_t rows_before_lines() const { return (kLineBytes - in_line(destination)) % kLineBytes / size; }
    // Rows of the destination are made of whole lines but for their ends, and elements divide a line.
    bool in_lines() const {
        return use.turn_lines != nullptr && in_line(destination) % size == 0 && destination_pitch % kLineBytes == 0 &&
               (count == 1 || destination_stride % kLineBytes == 0) &&
               (rows - rows_before_lines()) * size >= kLineBytes && cols * size >= kLineBytes;
    }
    // Nothing lies between the destination's elements.
    bool packed_destination() const {
        return (destination_pitch == rows * size || cols == 1) && (count == 1 || destination_stride == matrix_bytes());
    }
};

// ---- Streaming ------------------------------------------------------------------------------------------------------

// Writes bytes that lie in a line as they will there: whole lines past the caches, what is left at either end as usual.
void stream_run(const kernels& use, const byte* from, byte* to, std::int64_t bytes) {
    const std::int64_t head = std::min<std::int64_t>(bytes, (kLineBytes - in_line(to)) % kLineBytes);
    copy(from, to, head);
    const std::int64_t lines = (bytes - head) / kLineBytes, done = head + lines * kLineBytes;
    use.stream(from + head, to + head, lines);
    copy(from + done, to + done, bytes - done);
}

// ---- Squares of lines -----------------------------------------------------------------------------------------------
// A thread that writes one row of the destination after the other keeps few of memory's banks busy where rows are a
// power of two apart. So it turns, by turns, squares of two strips, whose lines lie side by side, and of a few places
// far apart along the rows of the source.

constexpr std::int64_t kRowsAtATime = 64;  // of the source: pieces of them, at all places
constexpr int kMostSquares = 64;           // in a list

struct patch {
    const byte* source;
    byte* destination;
    std::int64_t strips;         // under each other
    std::int64_t squares;        // side by side, at each of the
    std::int64_t places, apart;  // columns from one to the next
    const byte* next =
        nullptr;              // the patch that comes next, of the same form; null: it is another thread's, or far off
    byte* waiting = nullptr;  // of all columns; null: lines are not joined
    bool begins = false, ends = false;  // of what is joined: the first strip, the last
};

// What was fetched of so many rows stays in the second-level cache until all of it is turned.
bool fit_cache(std::int64_t rows, std::ptrdiff_t pitch) {
    return rows <= kCacheWays * (kCacheWayBytes / std::gcd(std::int64_t{pitch}, kCacheWayBytes));
}

std::int64_t strips_at_a_time(std::int64_t side, std::ptrdiff_t source_pitch) {
    return 2 * side <= kRowsAtATime && fit_cache(2 * side, source_pitch) ? 2 : 1;
}

void turn_squares(const job& j, const patch& p) {
    const auto turn = p.waiting == nullptr ? j.use.turn_lines : j.use.turn_joined;
    const std::int64_t side = j.side(), lines = fetched_lines(static_cast<int>(side));
    const std::int64_t rows_fetched = fetched_rows(static_cast<int>(side));
    square list[kMostSquares];
    for (std::int64_t first = 0; first < p.squares; first += lines) {
        const byte* const ahead = first + lines < p.squares ? p.source + (first + lines) * kLineBytes : p.next;
        int count = 0;
        for (std::int64_t i = first; i < std::min(first + lines, p.squares); ++i) {
            for (std::int64_t place = 0; place < p.places; ++place) {
                const std::int64_t col = place * p.apart + i * side;
                for (std::int64_t strip = 0; strip < p.strips; ++strip) {
                    square& s = list[count];
                    s.from = p.source + strip * side * j.source_pitch + col * j.size;
                    s.to = p.destination + col * j.destination_pitch + strip * kLineBytes;
                    // What is turned after this list, row by row.
                    const std::int64_t row = count * rows_fetched, rows = p.strips * side;
                    s.fetch = ahead == nullptr ? nullptr
                                               : ahead + row / rows * p.apart * j.size + row % rows * j.source_pitch;
                    s.waiting = p.waiting == nullptr ? nullptr : p.waiting + col * kLineBytes;
                    s.begins = p.begins && strip == 0;
                    s.ends = p.ends && strip == p.strips - 1;
                    ++count;
                }
            }
        }
        turn(list, count, j.source_pitch, j.destination_pitch);
    }
}

// Straight from the source to the destination, whose rows are whole lines but for their ends.
void run_lines(const job& j) {
    const std::int64_t side = j.side(), most_rows = strips_at_a_time(side, j.source_pitch) * side;
    const std::int64_t before = j.rows_before_lines();
    const std::int64_t across = divide_up(j.cols * kLineBytes, kUnitBytes),
                       down = divide_up(j.rows - before, most_rows);
    const std::int64_t most_cols = divide_up(divide_up(j.cols, across), side) * side;
    // Tasks of several patches, one under the other.
    const bool narrow = most_rows * most_cols * j.size < kTaskBytes;
    share_out(j.count * across * down, j.bytes(), [&](std::int64_t i) {
        // Down the source: neighbours along the rows of the destination are written at the same time.
        const std::int64_t row = before + i % down * most_rows;
        const std::int64_t col = i / down % across * most_cols, matrix = i / down / across;
        if (col >= j.cols) return;
        const std::int64_t rows = std::min(most_rows, j.rows - row), cols = std::min(most_cols, j.cols - col);
        const std::int64_t strips = rows / side, squares = cols / side, done_rows = strips * side;
        const bool follows = narrow && row + 2 * most_rows <= j.rows;
        const auto turn = [&](std::int64_t first, std::int64_t along, std::int64_t places) {
            turn_squares(j, {.source = j.source_at(matrix, row, col + first),
                             .destination = j.destination_at(matrix, col + first, row),
                             .strips = strips,
                             .squares = along,
                             .places = places,
                             .apart = along * side,
                             .next = follows ? j.source_at(matrix, row + most_rows, col + first) : nullptr});
        };
        if (strips > 0 && squares > 0) {
            const std::int64_t places = std::min(squares, j.size == 4 ? 4 : kRowsAtATime / most_rows);
            const std::int64_t along = squares / places;
            turn(0, along, places);
            turn(places * along * side, squares % places, 1);
        }
        // What is less than a square, into parts of lines.
        const auto turn_rest = [&](std::int64_t its_row, std::int64_t its_col, std::int64_t its_rows,
                                   std::int64_t its_cols) {
            j.use.turn(j.source_at(matrix, its_row, its_col), j.source_pitch,
                       j.destination_at(matrix, its_col, its_row), j.destination_pitch, its_rows, its_cols, j.size);
        };
        if (row == before) turn_rest(0, col, before, cols);
        turn_rest(row, col + squares * side, done_rows, cols - squares * side);
        turn_rest(row + done_rows, col, rows - done_rows, cols);
    });
}

// Rows and columns of one matrix that a thread moves.
struct panel {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols;
};

// A strip of the source is turned into a tile, in which each row of the destination has its piece, as far into a line
// as it is there. Whole lines are streamed; what a piece lacks to its last line comes with the next strip.
class strip_stream {
public:
    strip_stream(const job& j, const panel& p, std::int64_t strip_rows)
        : j_(j),
          p_(p),
          strip_rows_(strip_rows),
          piece_(strip_rows * j.size),
          pitch_(piece_ + kLineBytes + j.destination_pitch % kLineBytes),
          step_cols_(std::max<std::int64_t>(1, std::max<std::int64_t>(kLineBytes, kStepBytes / strip_rows) / j.size)),
          ahead_(ahead(strip_rows)),
          waiting_(scratch(p.cols * (kLineBytes + pitch_) + 3 * kLineBytes)),
          tile_(waiting_ + (p.cols + 1) * kLineBytes) {}

    void run() {
        const bool in_squares = j_.use.turn_joined != nullptr && piece_ == kLineBytes;
        const std::int64_t squares = in_squares ? p_.cols / strip_rows_ : 0, in_square_cols = squares * strip_rows_;
        // Two where rows of the destination begin alike: others are written to different banks of memory as it is.
        const bool alike = in_squares && j_.destination_pitch % kPageBytes == 0;
        const std::int64_t at_a_time = alike ? strips_at_a_time(strip_rows_, j_.source_pitch) : 1;
        for (std::int64_t row = 0; row < p_.rows;) {
            const std::int64_t strips = std::min(at_a_time, (p_.rows - row) / strip_rows_);
            const std::int64_t end = row + std::max<std::int64_t>(1, strips) * strip_rows_;
            if (strips > 0 && squares > 0) {
                turn_squares(j_, {.source = source_at(row),
                                  .destination = destination_at(row, 0),
                                  .strips = strips,
                                  .squares = squares,
                                  .places = 1,
                                  .apart = 0,
                                  .next = end + strips * strip_rows_ <= p_.rows ? source_at(end) : nullptr,
                                  .waiting = waiting_,
                                  .begins = row == 0,
                                  .ends = end == p_.rows});
            }
            for (; row < end; row += strip_rows_) {
                const std::int64_t rows = std::min(strip_rows_, p_.rows - row);
                const std::int64_t first = rows == strip_rows_ ? in_square_cols : 0;
                if (first == p_.cols) continue;
                turn(row, rows, first);
                flush(row, rows, first);
            }
        }
    }

    // Elements that are whole lines of a row of the destination, and more of them where there are few columns.
    static std::int64_t rows_of(const job& j, std::int64_t cols) {
        const std::int64_t least = kLineBytes / std::gcd(static_cast<std::int64_t>(kLineBytes), j.size);
        return least * std::max<std::int64_t>(1, kStripBytes / (least * cols * j.size));
    }

private:
    const byte* source_at(std::int64_t row) const { return p_.source + row * j_.source_pitch; }
    byte* destination_at(std::int64_t row, std::int64_t col) const {
        return p_.destination + col * j_.destination_pitch + row * j_.size;
    }
    // Where a column's piece begins; `col` is the first of those in the tile.
    byte* in_tile(std::int64_t col) const { return tile_ + in_line(destination_at(0, col)); }

    // The strip's columns from `first` on.
    void turn(std::int64_t row, std::int64_t rows, std::int64_t first) {
        const byte* const from = source_at(row);
        byte* const tile = in_tile(first);
        for (std::int64_t col = first; col < p_.cols; col += step_cols_) {
            fetch(from + col * j_.size, (p_.cols - col) * j_.size);
            j_.use.turn(from + col * j_.size, j_.source_pitch, tile + (col - first) * pitch_, pitch_, rows,
                        std::min(step_cols_, p_.cols - col), j_.size);
        }
    }

    // What lies a little further on in the same rows, and at their end what comes first in the next ones.
    [[gnu::always_inline]] void fetch(const byte* at, std::int64_t left_in_row) const {
        // Rows that follow each other closely, or that are many at a time, are fetched unasked.
        if (j_.source_pitch < kLineBytes || ahead_ == 0) return;
        const std::int64_t row_bytes = p_.cols * j_.size;
        const std::int64_t strips = left_in_row > ahead_ ? 0 : (ahead_ - left_in_row) / row_bytes + 1;
        const byte* const ahead = at + ahead_ + strips * (strip_rows_ * j_.source_pitch - row_bytes);
        fetch_tile(ahead, j_.source_pitch, strip_rows_, step_cols_ * j_.size);
    }

    // Streams what turn() turned.
    void flush(std::int64_t row, std::int64_t rows, std::int64_t first) {
        const bool begins = row == 0, ends = row + rows == p_.rows;
        byte *to = destination_at(row, first), *from = in_tile(first);
        byte* waiting = waiting_ + first * kLineBytes;
        const std::int64_t cols = p_.cols - first;
        if (!begins && !ends) {
            j_.use.stream_joined(from, pitch_, to, j_.destination_pitch, waiting, cols, piece_ / kLineBytes);
            return;
        }
        for (std::int64_t i = 0; i < cols; ++i, from += pitch_, to += j_.destination_pitch, waiting += kLineBytes) {
            const std::ptrdiff_t within = in_line(to), before = begins ? 0 : within;
            copy(waiting + kLineBytes - before, from - before, before);
            stream_run(j_.use, from - before, to - before, before + (ends ? rows * j_.size : piece_ - within));
            if (!ends) copy(from + piece_ - kLineBytes, waiting, kLineBytes);
        }
    }

    const job& j_;
    const panel& p_;
    const std::int64_t strip_rows_, piece_;
    const std::ptrdiff_t pitch_;
    const std::int64_t step_cols_;
    const std::ptrdiff_t ahead_;
    byte *const waiting_, *const tile_;  // a line for each column: what its piece of the strip before lacked
};

void run_strips(const job& j) {
    const std::int64_t panel_bytes = std::clamp(kPanelCols * j.size, kLeastPanelBytes, kMostPanelBytes);
    const std::int64_t across = divide_up(j.cols * j.size, panel_bytes), cols = divide_up(j.cols, across);
    const std::int64_t strip_rows = strip_stream::rows_of(j, cols);
    const std::int64_t strips = divide_up(j.rows, strip_rows);
    // Panels are cut where there are too few of them, into as many for each thread.
    const std::int64_t threads = tbb::this_task_arena::max_concurrency(), panels = j.count * across;
    std::int64_t down = std::clamp<std::int64_t>(divide_up(kTasksPerThread * threads, panels), 1,
                                                 divide_up(strips, std::int64_t{kPanelStrips}));
    if (panels * down > threads) down = std::max<std::int64_t>(1, panels * down / threads * threads / panels);
    share_out(panels * down, j.bytes(), [&](std::int64_t i) {
        const std::int64_t matrix = i / (across * down), col = i / down % across * cols;
        const std::int64_t first = strips * (i % down) / down * strip_rows;
        const std::int64_t last = std::min(j.rows, strips * (i % down + 1) / down * strip_rows);
        if (col >= j.cols) return;
        const panel p{j.source_at(matrix, first, col), j.destination_at(matrix, col, first), last - first,
                      std::min(cols, j.cols - col)};
        strip_stream(j, p, strip_rows).run();
    });
}

// Whole rows of a packed destination, across its matrices: turned into an image of it, which is streamed.
void run_image(const job& j) {
    const std::int64_t row_bytes = j.rows * j.size, all = j.count * j.cols;
    const std::int64_t at_a_time = std::max<std::int64_t>(1, kImageBytes / row_bytes);
    share_out(divide_up(all, at_a_time), j.bytes(), [&](std::int64_t i) {
        const std::int64_t first = i * at_a_time, last = std::min(all, first + at_a_time);
        byte* const to = j.destination + first * row_bytes;
        byte* const image = scratch(at_a_time * row_bytes + kLineBytes) + in_line(to);
        for (std::int64_t row = first; row < last;) {
            const std::int64_t matrix = row / j.cols, col = row % j.cols;
            const std::int64_t cols = std::min(last - row, j.cols - col);
            j.use.turn(j.source_at(matrix, 0, col), j.source_pitch, image + (row - first) * row_bytes, row_bytes,
                       j.rows, cols, j.size);
            row += cols;
        }
        stream_run(j.use, image, to, (last - first) * row_bytes);
    });
}

// ---- In the caches --------------------------------------------------------------------------------------------------

// Straight into the destination, tile by tile.
void run_direct(const job& j) {
    const std::int64_t side = std::max<std::int64_t>(1, kDirectBytes / j.size);
    const std::int64_t across = divide_up(j.cols, side);
    share_out(j.count * across, j.bytes(), [&](std::int64_t i) {
        const std::int64_t matrix = i / across, col = i % across * side, cols = std::min(side, j.cols - col);
        for (std::int64_t row = 0; row < j.rows; row += side) {
            j.use.turn(j.source_at(matrix, row, col), j.source_pitch, j.destination_at(matrix, col, row),
                       j.destination_pitch, std::min(side, j.rows - row), cols, j.size);
        }
    });
}

void swap_elements(const job& j) {
    share_out(j.count * j.rows, j.bytes(), [&](std::int64_t i) {
        const std::int64_t matrix = i / j.rows, row = i % j.rows;
        for (std::int64_t col = row + 1; col < j.cols; ++col) {
            byte* const one = j.destination_at(matrix, row, col);
            std::swap_ranges(one, one + j.size, j.destination_at(matrix, col, row));
        }
    });
}

// Tile i of those on the diagonal and above of tiles x tiles, so that the next one is mostly the next in its row: rows
// that are as long together as the first are put one behind the other.
struct place {
    std::int64_t row, col;
};
place upper_tile(std::int64_t i, std::int64_t tiles) {
    const std::int64_t length = tiles | 1, row = i / length, along = i % length;
    if (along < tiles - row) return {row, row + along};
    const std::int64_t other = tiles - 1 - row + tiles % 2;
    return {other, other + along - (tiles - row)};
}

// Two tiles that belong in each other's place, by way of the caches; or one on the diagonal, which is both.
void swap_tiles(const job& j, std::int64_t matrix, std::int64_t row, std::int64_t col, std::int64_t side) {
    const std::int64_t rows = std::min(side, j.rows - row), cols = std::min(side, j.rows - col), pitch = side * j.size;
    const byte *const source = j.source_at(matrix, row, col), *const mirrored = j.source_at(matrix, col, row);
    byte *const one = scratch(2 * side * pitch), *const other = one + side * pitch;
    const std::int64_t next_cols = std::clamp<std::int64_t>(j.rows - col - side, 0, side);
    fetch_tile(source + pitch, j.source_pitch, rows, next_cols * j.size);
    j.use.turn(source, j.source_pitch, one, pitch, rows, cols, j.size);
    if (row != col) {
        fetch_tile(mirrored + side * j.source_pitch, j.source_pitch, next_cols, rows * j.size);
        j.use.turn(mirrored, j.source_pitch, other, pitch, cols, rows, j.size);
        for (std::int64_t k = 0; k < rows; ++k)
            copy(other + k * pitch, j.destination_at(matrix, row + k, col), cols * j.size);
    }
    for (std::int64_t k = 0; k < cols; ++k)
        copy(one + k * pitch, j.destination_at(matrix, col + k, row), rows * j.size);
}

// The same past the caches, for two tiles of whole lines: read and written in pieces of rows as long as tiles can be.
void stream_tiles(const job& j, std::int64_t matrix, std::int64_t row, std::int64_t col, std::int64_t side) {
    const std::int64_t row_bytes = side * j.size, pitch = row_bytes + kLineBytes, lines = row_bytes / kLineBytes;
    byte* const first = scratch(2 * side * pitch);
    byte* const copies[] = {first, first + side * pitch};
    const place from[] = {{row, col}, {col, row}};
    for (int i : {0, 1}) {
        const byte* const tile = j.source_at(matrix, from[i].row, from[i].col);
        for (std::int64_t k = 0; k < side; ++k) {
            if (k + kTileRowsAhead < side)
                fetch_tile(tile + (k + kTileRowsAhead) * j.source_pitch, j.source_pitch, 1, row_bytes);
            copy(tile + k * j.source_pitch, copies[i] + k * pitch, row_bytes);
        }
    }
    for (int i : {0, 1}) {
        byte* const tile = j.destination_at(matrix, from[i].col, from[i].row);
        for (std::int64_t k = 0; k < side / j.side(); ++k) {
            square list[kMostSquares];
            for (std::int64_t line = 0; line < lines; ++line) {
                list[line] = {.from = copies[i] + line * j.side() * pitch + k * kLineBytes,
                              .to = tile + k * j.side() * j.destination_pitch + line * kLineBytes,
                              .fetch = nullptr,
                              .waiting = nullptr,
                              .begins = false,
                              .ends = false};
            }
            j.use.turn_lines(list, static_cast<int>(lines), pitch, j.destination_pitch);
        }
    }
}

// Calls swap(matrix, row, column) for each pair of tiles, and for those on the diagonal.
template <class Swap>
void for_each_pair(const job& j, std::int64_t side, Swap swap) {
    const std::int64_t tiles = divide_up(j.rows, side), pairs = tiles * (tiles + 1) / 2;
    const auto swap_pair = [&](std::int64_t i) {
        const place at = upper_tile(i % pairs, tiles);
        swap(i / pairs, at.row * side, at.col * side);
    };
    share_out(j.count * pairs, j.bytes(), swap_pair, kSwapTaskBytes);
}

void run_in_place(const job& j) {
    if (j.size > kLargeElement) return swap_elements(j);
    const std::int64_t side = std::max<std::int64_t>(1, kSwapBytes / j.size);
    for_each_pair(j, side, [&](std::int64_t matrix, std::int64_t row, std::int64_t col) {
        swap_tiles(j, matrix, row, col, side);
    });
}

void run_in_place_streamed(const job& j) {
    const std::int64_t side = std::min(kTileBytes / j.size, kTileRows);
    for_each_pair(j, side, [&](std::int64_t matrix, std::int64_t row, std::int64_t col) {
        const bool whole = col + side <= j.rows;  // and so is the other one, which is above the diagonal
        (whole && row != col ? stream_tiles : swap_tiles)(j, matrix, row, col, side);
    });
}

struct way {
    void (*run)(const job&);
    const char *name, *why;
};

way choose(const job& j) {
    if (j.in_place()) {
        // Rows that compete for the same places of the caches, of more than these hold.
        if (j.bytes() >= kStreamSwapsFrom && j.destination_pitch % kPageBytes == 0 && j.in_lines() &&
            j.rows_before_lines() == 0)
            return {run_in_place_streamed, "in_place_streamed", "too large for the caches, and all rows begin alike"};
        return {run_in_place, "in_place", "source and destination are the same"};
    }
    if (j.bytes() < kStreamFrom) return {run_direct, "direct", "it fits the caches"};
    if (j.size > kLargeElement) return {run_direct, "direct", "the elements are as large as rows"};
    if (j.in_lines())
        return {run_lines, "lines", "too large for the caches: past them, line by line of the destination"};
    if (j.packed_destination() && (j.rows * j.size <= kShortRow || j.matrix_bytes() <= kImageBytes))
        return {run_image, "image", "rows of the destination are short and lie behind each other"};
    if (j.rows * j.size < kLeastRow) return {run_direct, "direct", "rows of the destination are short"};
    return {run_strips, "strips", "too large for the caches: past them, each line when it is whole"};
}

}  // namespace

void run(const matrix_work& work) {
    const job j(work);
    choose(j).run(j);
}

std::string explain(const matrix_work& work) {
    const job j(work);
    const way w = choose(j);
    return std::string(w.name) + ", " + j.use.target + ": " + w.why;
}

}  // namespace cornerturn::host
