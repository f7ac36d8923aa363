#include "host/paths.hpp"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "host/kernels.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

// docs/experiments.md has what was tried.
constexpr std::int64_t kStreamFrom =
    8 * kMiB;  // bytes of the destination: what is smaller had better stay in the caches
constexpr std::int64_t kTaskBytes = 256 * kKiB;   // of the source, at least: what is smaller is not worth handing out
constexpr int kTasksPerThread = 8;                // at most, so that none waits long for the last
constexpr std::int64_t kPieceBytes = 256;         // of a row of the destination, streamed at a time
constexpr std::int64_t kRunBytes = 2 * kKiB;      // of a row of the source, read at a time
constexpr std::int64_t kBandBytes = 512 * kKiB;   // between reading and streaming: a part of the second-level cache
constexpr std::int64_t kImageBytes = 64 * kKiB;   // the same, of whole rows of the destination
constexpr std::int64_t kShortRow = 1 * kKiB;      // of the destination: streamed with its neighbours
constexpr std::int64_t kStepBytes = 128;          // of a row, turned at a time
constexpr std::int64_t kBlockBytes = 16;          // turned in vector registers, at the least
constexpr std::int64_t kAheadBytes = 512;         // from what is turned to what is fetched
constexpr std::int64_t kTileBytes = 512;          // of a row of a tile that is swapped in place
constexpr std::int64_t kLargeElement = 4 * kKiB;  // in itself as good as a row: moved straight to its place

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::ptrdiff_t in_line(const byte* address) {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

void copy(const byte* from, byte* to, std::int64_t bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }

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

// Calls body(i) for i in [0, count), where all of it moves `bytes`.
template <class Body>
void share_out(std::int64_t count, std::int64_t bytes, Body body) {
    const std::int64_t tasks = std::clamp<std::int64_t>(
        bytes / kTaskBytes, 1,
        std::min<std::int64_t>(count, kTasksPerThread * tbb::this_task_arena::max_concurrency()));
    const auto task = [&](std::int64_t t) {
        for (std::int64_t i = count * t / tasks; i < count * (t + 1) / tasks; ++i) body(i);
    };
    if (tasks == 1) {
        task(0);
    } else {
        tbb::parallel_for(std::int64_t{0}, tasks, task, tbb::simple_partitioner());
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

// Rows and columns of one matrix that a thread moves, band after band of so many rows.
struct panel {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols;
};

// A band is turned into a buffer, in which a row of the destination has its piece of whole lines; meanwhile the band
// before is streamed from another. Pieces need not begin with a line: what the last line of one lacks comes with the
// next, so that it waits in front of that.
class band_stream {
public:
    band_stream(const job& j, const panel& p, std::int64_t band_rows)
        : j_(j),
          p_(p),
          band_rows_(band_rows),
          piece_(band_rows * j.size),
          pitch_(buffer_pitch(j, piece_)),
          step_cols_(std::max<std::int64_t>(1, kStepBytes / j.size)),
          // Rows of less than a block are turned by the block, of which only many of them make one.
          step_rows_(std::max<std::int64_t>(1, kLineBytes / j.size) * (p.cols * j.size < kBlockBytes ? 4 : 1)),
          first_(scratch(2 * buffer_bytes(j, piece_, p.cols)) + kLineBytes + in_line(p.destination)),
          second_(first_ + buffer_bytes(j, piece_, p.cols)) {}

    void run() {
        for (std::int64_t row = 0; row < p_.rows; row += band_rows_) {
            fill(row, std::min(band_rows_, p_.rows - row));
            std::swap(first_, second_);
        }
        flush_until(p_.cols);
    }

    // Whole lines, and as long as many of the destination's rows allow.
    static std::int64_t rows_of(const job& j, std::int64_t cols) {
        const std::int64_t least = kLineBytes / std::gcd(static_cast<std::int64_t>(kLineBytes), j.size);
        const std::int64_t piece = std::max(kPieceBytes, kBandBytes / 2 / cols - 2 * kLineBytes);
        return std::max<std::int64_t>(1, piece / (least * j.size)) * least;
    }

private:
    // As far into a line as the destination's rows are.
    static std::ptrdiff_t buffer_pitch(const job& j, std::int64_t piece) {
        return piece + 2 * kLineBytes + j.destination_pitch % kLineBytes;
    }
    static std::int64_t buffer_bytes(const job& j, std::int64_t piece, std::int64_t cols) {
        return divide_up(cols * buffer_pitch(j, piece), kLineBytes) * kLineBytes + 2 * kLineBytes;
    }

    // Turns rows of the source into the first buffer, and streams the second.
    void fill(std::int64_t band, std::int64_t rows) {
        const std::int64_t steps = divide_up(rows, step_rows_) * divide_up(p_.cols, step_cols_);
        std::int64_t step = 0;
        for (std::int64_t row = 0; row < rows; row += step_rows_) {
            const byte* const source = p_.source + (band + row) * j_.source_pitch;
            const std::int64_t these_rows = std::min(step_rows_, rows - row);
            for (std::int64_t col = 0; col < p_.cols; col += step_cols_) {
                const std::int64_t these_cols = std::min(step_cols_, p_.cols - col);
                fetch(source + col * j_.size, these_rows, (p_.cols - col) * j_.size);
                j_.use.turn(source + col * j_.size, j_.source_pitch, first_ + col * pitch_ + row * j_.size, pitch_,
                            these_rows, these_cols, j_.size);
                if (held_rows_ > 0) flush_until(p_.cols * ++step / steps);
            }
        }
        if (held_rows_ > 0) flush_until(p_.cols);
        held_ = band;
        held_rows_ = rows;
        flushed_ = 0;
    }

    // What lies a little further on in the same rows, and at their end what comes first in the next.
    void fetch(const byte* at, std::int64_t rows, std::int64_t left_in_row) const {
        const byte* const ahead = left_in_row > kAheadBytes
                                      ? at + kAheadBytes
                                      : at + step_rows_ * j_.source_pitch + kAheadBytes - p_.cols * j_.size;
        for (std::int64_t row = 0; row < rows; ++row) {
            const byte* const from = ahead + row * j_.source_pitch;
            for (std::int64_t byte = 0; byte < kStepBytes; byte += kLineBytes) __builtin_prefetch(from + byte);
        }
    }

    // Streams the band before, up to this column of the source.
    void flush_until(std::int64_t col) {
        const bool begins = held_ == 0, ends = held_ + held_rows_ == p_.rows;
        for (; flushed_ < col; ++flushed_) {
            const byte* const from = second_ + flushed_ * pitch_;
            byte* const to = p_.destination + flushed_ * j_.destination_pitch + held_ * j_.size;
            const std::ptrdiff_t within = in_line(to), before = begins ? 0 : within;
            if (ends) {
                stream_run(j_.use, from - before, to - before, before + held_rows_ * j_.size);
                continue;
            }
            stream_run(j_.use, from - before, to - before, before + piece_ - within);
            if (within > 0) copy(from + piece_ - within, first_ + flushed_ * pitch_ - within, within);
        }
    }

    const job& j_;
    const panel& p_;
    const std::int64_t band_rows_, piece_;
    const std::ptrdiff_t pitch_;
    const std::int64_t step_cols_, step_rows_;
    byte *first_, *second_;
    std::int64_t held_ = 0, held_rows_ = 0, flushed_ = 0;  // the band in the second buffer, if any
};

// Bands of the source, streamed in pieces of the destination's rows.
void run_bands(const job& j) {
    const std::int64_t widest = std::max<std::int64_t>(1, kRunBytes / j.size);
    const std::int64_t across = divide_up(j.cols, widest), cols = divide_up(j.cols, across);
    const std::int64_t band_rows = band_stream::rows_of(j, cols), bands = divide_up(j.rows, band_rows);
    // Panels are cut where there are too few of them.
    const std::int64_t wanted = kTasksPerThread * tbb::this_task_arena::max_concurrency();
    const std::int64_t down = std::clamp<std::int64_t>(divide_up(wanted, j.count * across), 1, divide_up(bands, 4));
    share_out(j.count * across * down, j.bytes(), [&](std::int64_t i) {
        const std::int64_t matrix = i / (across * down), col = i / down % across * cols;
        const std::int64_t first = bands * (i % down) / down * band_rows;
        const std::int64_t last = std::min(j.rows, bands * (i % down + 1) / down * band_rows);
        if (col >= j.cols) return;
        const panel p{j.source_at(matrix, first, col), j.destination_at(matrix, col, first), last - first,
                      std::min(cols, j.cols - col)};
        band_stream(j, p, band_rows).run();
        end_stream();
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
        end_stream();
    });
}

// ---- In the caches --------------------------------------------------------------------------------------------------

// Straight into the destination, tile by tile.
void run_direct(const job& j) {
    const std::int64_t side = std::max<std::int64_t>(1, kPieceBytes / j.size);
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

// Two tiles that belong in each other's place; or one on the diagonal, which is both.
void run_in_place(const job& j) {
    if (j.size > kLargeElement) return swap_elements(j);
    const std::int64_t side = std::max<std::int64_t>(1, kTileBytes / j.size), pitch = side * j.size;
    const std::int64_t tiles = divide_up(j.rows, side), pairs = tiles * (tiles + 1) / 2;
    share_out(j.count * pairs, j.bytes(), [&](std::int64_t i) {
        const std::int64_t matrix = i / pairs;
        std::int64_t upper = 0, lower = i % pairs;  // tile (upper, lower): the rows of tiles grow shorter
        for (; lower >= tiles - upper; ++upper) lower -= tiles - upper;
        lower += upper;
        const std::int64_t row = upper * side, col = lower * side;
        const std::int64_t rows = std::min(side, j.rows - row), cols = std::min(side, j.rows - col);
        byte *const one = scratch(2 * side * pitch), *const other = one + side * pitch;
        j.use.turn(j.source_at(matrix, row, col), j.source_pitch, one, pitch, rows, cols, j.size);
        if (row != col) j.use.turn(j.source_at(matrix, col, row), j.source_pitch, other, pitch, cols, rows, j.size);
        for (std::int64_t k = 0; k < cols; ++k)
            copy(one + k * pitch, j.destination_at(matrix, col + k, row), rows * j.size);
        if (row == col) return;
        for (std::int64_t k = 0; k < rows; ++k)
            copy(other + k * pitch, j.destination_at(matrix, row + k, col), cols * j.size);
    });
}

struct way {
    void (*run)(const job&);
    const char *name, *why;
};

way choose(const job& j) {
    if (j.in_place()) return {run_in_place, "in_place", "source and destination are the same"};
    if (j.bytes() < kStreamFrom) return {run_direct, "direct", "it fits the caches"};
    if (j.size > kLargeElement) return {run_direct, "direct", "the elements are as large as rows"};
    if (j.packed_destination() && (j.rows * j.size <= kShortRow || j.matrix_bytes() <= kImageBytes))
        return {run_image, "image", "rows of the destination are short and lie behind each other"};
    if (j.rows * j.size < kPieceBytes) return {run_direct, "direct", "rows of the destination are short"};
    return {run_bands, "bands", "too large for the caches: past them, in pieces of the destination's rows"};
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
