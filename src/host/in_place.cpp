// Square matrices in place.
#include "host/ways.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kSwapBytes = 128;                        // of a row of a tile
constexpr std::int64_t kSwapTaskBytes = 1 * kMiB;               // as kTaskBytes
constexpr std::int64_t kTileBytes = 1 * kKiB, kTileRows = 512;  // at most: of a tile that is streamed
constexpr std::int64_t kTileRowsAhead = 4;                      // of it, from what is read to what is fetched

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

// The same past the caches, for two tiles of whole lines: the longer their rows are, the better for memory.
void stream_tiles(const job& j, std::int64_t matrix, std::int64_t row, std::int64_t col, std::int64_t side) {
    const std::int64_t row_bytes = side * j.size, pitch = row_bytes + kLineBytes, at_a_time = j.side();
    byte* const first = scratch((2 * side + at_a_time) * pitch);
    byte *const copies[] = {first, first + side * pitch}, *const turned = first + 2 * side * pitch;
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
        for (std::int64_t k = 0; k < side; k += at_a_time) {
            j.use.turn(copies[i] + k * j.size, pitch, turned, pitch, side, at_a_time, j.size);
            for (std::int64_t its_row = 0; its_row < at_a_time; ++its_row) {
                j.use.stream(turned + its_row * pitch, tile + (k + its_row) * j.destination_pitch,
                             row_bytes / kLineBytes);
            }
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

}  // namespace

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

}  // namespace cornerturn::host
