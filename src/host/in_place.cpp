// Square matrices in place.
#include "host/methods.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kTileBytes = 128, kTileElements = 16;  // of a row of a tile; the larger one counts
constexpr std::int64_t kMostTileBytes = 2 * kKiB;             // limit on kTileElements
constexpr std::int64_t kBlockTiles = 4;                       // on a side, at most
constexpr std::int64_t kMostTaskBytes = 1 * kMiB;             // instead of kTaskBytes, if there is much work
constexpr std::int64_t kTasksPerThread = 16;                  // from which on tasks grow

void swap_elements(const job& j) {
    share_out(j, j.count * j.rows, [&](std::int64_t i) {
        const std::int64_t matrix = i / j.rows, row = i % j.rows;
        for (std::int64_t col = row + 1; col < j.cols; ++col) {
            byte* const one = j.destination_at(matrix, row, col);
            std::swap_ranges(one, one + j.size, j.destination_at(matrix, col, row));
        }
    });
}

// Rows are usually a line, which is copied without a call.
void copy_row(const byte* from, byte* to, std::int64_t bytes) {
    if (bytes == kLineBytes) {
        copy(from, to, kLineBytes);
    } else {
        copy(from, to, bytes);
    }
}

// Transposes a small matrix.
void transpose_and_copy(const job& j, std::int64_t matrix) {
    const std::ptrdiff_t pitch = j.rows * j.size;
    byte *const there = j.destination_at(matrix, 0, 0), *const transposed = scratch(j.rows * pitch);
    j.use.transpose_tile(there, j.source_pitch, transposed, pitch, j.rows, j.rows, j.size);
    if (j.destination_pitch == pitch) return copy(transposed, there, j.rows * pitch);
    for (std::int64_t row = 0; row < j.rows; ++row)
        copy(transposed + row * pitch, there + row * j.destination_pitch, pitch);
}

struct position {
    std::int64_t row, col;
};

// Position i on or above the diagonal of side x side, row by row. Two rows that together are as long as the first row,
// or longer by one, are joined into one.
position upper_position(std::int64_t i, std::int64_t side) {
    const std::int64_t length = side | 1, row = i / length, along = i % length;
    if (along < side - row) return {row, row + along};
    const std::int64_t other = side - 1 - row + side % 2;
    return {other, other + along - (side - row)};
}

std::int64_t tile_row_bytes(std::int64_t size) {
    return std::max(kTileBytes, std::min(kTileElements * size, kMostTileBytes));
}

// Swaps tiles of squares, in blocks of tiles. Each step swaps a square and its mirror image. It also fetches a row or
// two of the next tiles, because memory is slow to answer bursts. A block's tiles are taken one diagonal after the
// other. So few follow each other along a column, where rows whose distance is a power of two compete for the same
// cache sets and memory banks.
class square_swaps {
public:
    explicit square_swaps(const job& j)
        : j_(j),
          square_(std::max<std::int64_t>(1, j.side())),
          squares_(std::max<std::int64_t>(1, tile_row_bytes(j.size) / (square_ * j.size))),
          side_(squares_ * square_),
          blocks_(divide_up(j.rows, kBlockTiles * side_)),
          tiles_(divide_up(divide_up(j.rows, side_), blocks_)) {}

    bool is_one_tile() const { return j_.rows <= side_; }

    // Each step swaps a pair of tiles, or does nothing: along the diagonal, and at the end of rows of blocks.
    std::int64_t steps() const { return j_.count * steps_of_matrix(); }

    void run(std::int64_t step) const {
        const tile here = at(step);
        if (!here.is_there) return;
        tile next = at(++step);
        while (!next.is_there && step < steps()) next = at(++step);
        rows_ahead ahead[] = {rows_of(next, next.row, next.col), rows_of(next, next.col, next.row)};
        // Fetch this many rows of both tiles, spread over the squares.
        const std::int64_t all = squares_ * squares_, rows = 2 * divide_up(side_, all);
        const std::int64_t at_a_time = std::max<std::int64_t>(1, all / side_);
        for (std::int64_t i = 0; i < all; ++i) {
            const std::int64_t row = here.row + i / squares_ * square_, col = here.col + i % squares_ * square_;
            const std::int64_t fetched = i % at_a_time == 0 ? rows : 0;
            if (row <= col && col < j_.rows) {
                swap(here.matrix, row, col, ahead, fetched);
            } else {
                for (std::int64_t k = 0; k < fetched; ++k) fetch(ahead[k % 2]);
            }
        }
    }

private:
    struct tile {
        std::int64_t matrix, row, col;
        bool is_there;
    };

    // The rows of the next tile that are not fetched yet. None if there is no next tile.
    struct rows_ahead {
        const byte* first;
        std::int64_t rows, bytes;
    };

    std::int64_t steps_of_block() const { return tiles_ * tiles_; }
    std::int64_t steps_of_matrix() const { return blocks_ * (blocks_ + 1) / 2 * steps_of_block(); }

    tile at(std::int64_t step) const {
        const std::int64_t matrix = step / steps_of_matrix(), within = step % steps_of_matrix();
        const position block = upper_position(within / steps_of_block(), blocks_);
        const std::int64_t down = within % tiles_, across = (down + within % steps_of_block() / tiles_) % tiles_;
        const std::int64_t row = (block.row * tiles_ + down) * side_, col = (block.col * tiles_ + across) * side_;
        return {matrix, row, col, matrix < j_.count && row <= col && col < j_.rows};
    }

    rows_ahead rows_of(const tile& t, std::int64_t row, std::int64_t col) const {
        if (!t.is_there) return {};
        return {j_.source_at(t.matrix, row, col), std::min(side_, j_.rows - row),
                std::min(side_, j_.rows - col) * j_.size};
    }

    // Fetches a row.
    [[gnu::always_inline]] void fetch(rows_ahead& a) const {
        if (a.rows == 0) return;
        fetch_tile(a.first, j_.source_pitch, 1, a.bytes);
        a.first += j_.source_pitch;
        --a.rows;
    }

    // Swaps a square with its mirror image. The mirror image goes straight to its destination. On the diagonal the two
    // are the same. Meanwhile fetches `fetched` rows, alternately of the first and the second of `ahead`.
    void swap(std::int64_t matrix, std::int64_t row, std::int64_t col, rows_ahead (&ahead)[2],
              std::int64_t fetched) const {
        const std::int64_t rows = std::min(square_, j_.rows - row), cols = std::min(square_, j_.rows - col);
        const std::ptrdiff_t pitch = std::max<std::ptrdiff_t>(kLineBytes, j_.size);
        byte *const one = j_.destination_at(matrix, row, col), *const mirrored = j_.destination_at(matrix, col, row);
        byte* const transposed = scratch(square_ * pitch);
        j_.use.transpose_tile(one, j_.source_pitch, transposed, pitch, rows, cols, j_.size);
        if (row != col)
            j_.use.transpose_tile(mirrored, j_.source_pitch, one, j_.destination_pitch, cols, rows, j_.size);
        for (std::int64_t i = 0; i < std::max(cols, fetched); ++i) {
            if (i < cols) copy_row(transposed + i * pitch, mirrored + i * j_.destination_pitch, rows * j_.size);
            if (i < fetched) fetch(ahead[i % 2]);
        }
    }

    const job& j_;
    std::int64_t square_, squares_, side_;  // side of a square, in elements; of a tile, in squares; in elements
    std::int64_t blocks_, tiles_;           // blocks on a side of the matrix; tiles on a side of a block
};

}  // namespace

void run_in_place(const job& j) {
    if (j.size > kLargeElement) return swap_elements(j);
    const std::int64_t task_bytes =
        std::clamp(j.bytes() / (kTasksPerThread * j.threads.most()), kTaskBytes, kMostTaskBytes);
    const square_swaps swaps(j);
    if (swaps.is_one_tile()) {
        share_out(
            j, j.count, [&](std::int64_t i) { transpose_and_copy(j, i); }, task_bytes);
    } else {
        share_out(
            j, swaps.steps(), [&](std::int64_t i) { swaps.run(i); }, task_bytes);
    }
}

}  // namespace cornerturn::host
