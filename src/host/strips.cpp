// Transposes past the caches, into rows that begin anywhere in a line. Each line is written when it is whole.
#include <numeric>

#include "host/methods.hpp"
#include "host/squares.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kPanelCols = 512;  // of the source: what waits for its line stays in the nearest cache
constexpr std::int64_t kLeastPanelBytes = 1 * kKiB, kMostPanelBytes = 4 * kKiB;  // of a row of the source
constexpr std::int64_t kStripBytes = 16 * kKiB;   // of the source, at most, if that is whole lines
constexpr std::int64_t kStepBytes = 4 * kKiB;     // transposed at a time
constexpr std::int64_t kAheadBytes = 512;         // of a row, at most, from what is transposed to what is fetched
constexpr std::int64_t kFetchedBytes = 4 * kKiB;  // the same for all rows that are transposed at a time
constexpr int kPanelStrips = 16;                  // at least: each panel transposes the strip before it a second time
constexpr int kTasksPerThread = 8;                // if the cost to begin a task matters

// How far ahead to fetch, with `rows` rows at a time.
std::ptrdiff_t ahead(std::int64_t rows) {
    return std::min(kAheadBytes, kFetchedBytes / rows / kLineBytes * kLineBytes);
}

// Rows and columns of one matrix that a thread moves.
struct panel {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols;
    bool first, last;  // of those with the same columns
};

// Transposes a strip of the source into a tile. The tile has a piece of each row of the destination, at the same
// position in a line as there. Whole lines are streamed. The rest of a piece's last line comes with the next strip, or
// with the next panel, which transposes the strip before its own again for that. So one thread writes each line within
// a row. Squares of lines need no tile: transpose_squares() streams them.
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
        const bool in_squares = j_.use.transpose_joined != nullptr && piece_ == kLineBytes;
        const std::int64_t squares = in_squares ? p_.cols / strip_rows_ : 0, in_square_cols = squares * strip_rows_;
        // Two strips if rows of the destination begin alike. Otherwise they are in different memory banks anyway.
        const bool alike = in_squares && j_.destination_pitch % kPageBytes == 0;
        const std::int64_t at_a_time = alike ? strips_at_a_time(strip_rows_, j_.source_pitch) : 1;
        if (!p_.first) transpose_before();
        for (std::int64_t row = 0; row < p_.rows;) {
            const std::int64_t strips = std::min(at_a_time, (p_.rows - row) / strip_rows_);
            const std::int64_t end = row + std::max<std::int64_t>(1, strips) * strip_rows_;
            if (strips > 0 && squares > 0) {
                transpose_squares(j_, {.source = source_at(row),
                                       .destination = destination_at(row, 0),
                                       .strips = strips,
                                       .squares = squares,
                                       .positions = 1,
                                       .apart = 0,
                                       .next = end + strips * strip_rows_ <= p_.rows ? source_at(end) : nullptr,
                                       .waiting = waiting_,
                                       .begins = p_.first && row == 0,
                                       .ends = p_.last && end == p_.rows});
            }
            for (; row < end; row += strip_rows_) {
                const std::int64_t rows = std::min(strip_rows_, p_.rows - row);
                const std::int64_t first = rows == strip_rows_ ? in_square_cols : 0;
                if (first == p_.cols) continue;
                transpose_strip(row, rows, first);
                flush(row, rows, first);
            }
        }
    }

    // Rows of a strip: enough for whole lines of a row of the destination, and more if there are few columns.
    static std::int64_t rows_of(const job& j, std::int64_t cols) {
        const std::int64_t least = kLineBytes / std::gcd(static_cast<std::int64_t>(kLineBytes), j.size);
        return least * std::max<std::int64_t>(1, kStripBytes / (least * cols * j.size));
    }

private:
    const byte* source_at(std::int64_t row) const { return p_.source + row * j_.source_pitch; }
    byte* destination_at(std::int64_t row, std::int64_t col) const {
        return p_.destination + col * j_.destination_pitch + row * j_.size;
    }
    // Where a column's piece begins. `col` is the first column in the tile.
    byte* in_tile(std::int64_t col) const { return tile_ + in_line(destination_at(0, col)); }

    // Whether the next strip begins where this one ends, or nearly. It is then fetched while this one is streamed.
    bool strips_are_contiguous() const {
        return j_.source_pitch < kLineBytes || (piece_ > kLineBytes && j_.source_pitch == p_.cols * j_.size);
    }

    // Prepares what waits for the panel's first lines.
    void transpose_before() {
        transpose_strip(-strip_rows_, strip_rows_, 0);
        const byte* const last = in_tile(0) + piece_ - kLineBytes;
        for (std::int64_t col = 0; col < p_.cols; ++col)
            copy(last + col * pitch_, waiting_ + col * kLineBytes, kLineBytes);
    }

    // Transposes the strip's columns from `first` on.
    void transpose_strip(std::int64_t row, std::int64_t rows, std::int64_t first) {
        const byte* const from = source_at(row);
        byte* const tile = in_tile(first);
        for (std::int64_t col = first; col < p_.cols; col += step_cols_) {
            fetch(from + col * j_.size, (p_.cols - col) * j_.size);
            j_.use.transpose_tile(from + col * j_.size, j_.source_pitch, tile + (col - first) * pitch_, pitch_, rows,
                                  std::min(step_cols_, p_.cols - col), j_.size);
        }
    }

    // Fetches a little further on in the same rows. At their end, it fetches the beginning of the next rows.
    [[gnu::always_inline]] void fetch(const byte* at, std::int64_t left_in_row) const {
        if (strips_are_contiguous() || ahead_ == 0) return;  // the hardware fetches many rows at a time by itself
        const std::int64_t row_bytes = p_.cols * j_.size;
        const std::int64_t strips = left_in_row > ahead_ ? 0 : (ahead_ - left_in_row) / row_bytes + 1;
        const byte* const ahead = at + ahead_ + strips * (strip_rows_ * j_.source_pitch - row_bytes);
        fetch_tile(ahead, j_.source_pitch, strip_rows_, step_cols_ * j_.size);
    }

    // Streams what transpose_strip() transposed.
    void flush(std::int64_t row, std::int64_t rows, std::int64_t first) {
        const bool begins = p_.first && row == 0, ends = p_.last && row + rows == p_.rows;
        byte *to = destination_at(row, first), *from = in_tile(first);
        byte* waiting = waiting_ + first * kLineBytes;
        const std::int64_t cols = p_.cols - first;
        if (!begins && !ends) {
            const byte* const next = strips_are_contiguous() ? source_at(row + rows) : nullptr;
            j_.use.stream_joined(from, pitch_, to, j_.destination_pitch, waiting, cols, piece_ / kLineBytes, next);
            return;
        }
        for (std::int64_t i = 0; i < cols; ++i, from += pitch_, to += j_.destination_pitch, waiting += kLineBytes) {
            const std::ptrdiff_t within = in_line(to), before = begins ? 0 : within;
            copy(waiting + kLineBytes - before, from - before, before);
            j_.use.stream(from - before, to - before, before + (ends ? rows * j_.size : piece_ - within), nullptr);
            if (!ends) copy(from + piece_ - kLineBytes, waiting, kLineBytes);
        }
    }

    const job& j_;
    const panel& p_;
    const std::int64_t strip_rows_, piece_;
    const std::ptrdiff_t pitch_;
    const std::int64_t step_cols_;
    const std::ptrdiff_t ahead_;
    byte *const waiting_, *const tile_;  // waiting_: for each column, the last line of its piece of the strip before
};

}  // namespace

void run_strips(const job& j) {
    const std::int64_t panel_bytes = std::clamp(kPanelCols * j.size, kLeastPanelBytes, kMostPanelBytes);
    const std::int64_t across = divide_up(j.cols * j.size, panel_bytes);
    const std::int64_t whole = j.use.transpose_joined != nullptr ? j.side() : 1;
    const std::int64_t cols = divide_up(divide_up(j.cols, across), whole) * whole;
    const std::int64_t strip_rows = strip_stream::rows_of(j, std::min(cols, j.cols));
    const std::int64_t strips = divide_up(j.rows, strip_rows);
    // If there are too few panels, cut them so that each thread has several.
    const std::int64_t panels = j.count * across, threads = j.threads.most();
    std::int64_t down = std::clamp<std::int64_t>(divide_up(kTasksPerThread * threads, panels), 1,
                                                 std::max<std::int64_t>(1, strips / kPanelStrips));
    if (panels * down > threads) down = std::max<std::int64_t>(1, panels * down / threads * threads / panels);
    share_out(j, panels * down, [&](std::int64_t i) {
        const std::int64_t matrix = i / (across * down), col = i / down % across * cols;
        const std::int64_t first = strips * (i % down) / down * strip_rows;
        const std::int64_t last = std::min(j.rows, strips * (i % down + 1) / down * strip_rows);
        if (col >= j.cols) return;
        const panel p{.source = j.source_at(matrix, first, col),
                      .destination = j.destination_at(matrix, col, first),
                      .rows = last - first,
                      .cols = std::min(cols, j.cols - col),
                      .first = first == 0,
                      .last = last == j.rows};
        strip_stream(j, p, strip_rows).run();
    });
}

}  // namespace cornerturn::host
