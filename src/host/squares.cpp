#include "host/squares.hpp"

#include <cassert>
#include <numeric>

namespace cornerturn::host {
namespace {

constexpr int kLeastTogether = 64;         // elements along a row, transposed before the next position
constexpr std::int64_t kRunCols = 512;     // of a row of the source
constexpr std::int64_t kLeastCols = 4096;  // of the source: with fewer, runs and copies do not pay
constexpr std::int64_t kCacheWayBytes = 128 * kKiB, kCacheWays = 16;  // of the second-level cache

// Whether lines that were fetched of these rows stay in that cache until all of them are transposed.
bool fit_cache(std::int64_t rows, std::ptrdiff_t pitch) {
    return rows <= kCacheWays * (kCacheWayBytes / std::gcd(std::int64_t{pitch}, kCacheWayBytes));
}

// Runs of squares, in which the same line of each is written in turn. For squares whose lines are a multiple of 1 MiB
// apart: these share few of memory's banks.
std::int64_t transpose_runs(const job& j, const byte* source, byte* destination, std::int64_t squares) {
    const std::int64_t squares_of_run = kRunCols / j.side(), runs = squares / squares_of_run;
    if (runs == 0) return 0;
    constexpr std::int64_t kTileBytes = kRunCols * kLineBytes;
    byte* const tiles = scratch(2 * kTileBytes);
    const auto from = [&](std::int64_t i) { return i < runs ? source + i * squares_of_run * kLineBytes : nullptr; };
    for (std::int64_t i = 0; i <= runs; ++i) {
        byte *const tile = tiles + i % 2 * kTileBytes, *const other = tiles + (i + 1) % 2 * kTileBytes;
        j.use.transpose_run({.from = from(i),
                             .tile = tile,
                             .next = from(i + 1),
                             .transposed = i > 0 ? other : nullptr,
                             .to = i > 0 ? destination + (i - 1) * kRunCols * j.destination_pitch : nullptr,
                             .squares = static_cast<int>(squares_of_run)},
                            j.source_pitch, j.destination_pitch);
    }
    return runs * squares_of_run;
}

// Through copies of the rows, of which few are fetched at a time. For rows that do not fit the cache.
std::int64_t transpose_copies(const job& j, const byte* source, byte* destination, std::int64_t squares) {
    const std::int64_t side = j.side(), lists = squares / kCopiedSquares;
    if (lists == 0) return 0;
    constexpr std::int64_t kPieceBytes = kCopiedSquares * kLineBytes;
    byte* const copies = scratch(2 * side * kPieceBytes);
    const auto from = [&](std::int64_t i) { return i < lists ? source + i * kPieceBytes : nullptr; };
    for (std::int64_t row = 0; row < side; ++row)
        copy(source + row * j.source_pitch, copies + row * kPieceBytes, kPieceBytes);
    for (std::int64_t i = 0; i < lists; ++i) {
        j.use.transpose_copied({.copied = copies + i % 2 * side * kPieceBytes,
                                .to = destination + i * kCopiedSquares * side * j.destination_pitch,
                                .next = from(i + 1),
                                .copy = copies + (i + 1) % 2 * side * kPieceBytes,
                                .after = from(i + 2)},
                               j.source_pitch, j.destination_pitch);
    }
    return lists * kCopiedSquares;
}

}  // namespace

std::int64_t strips_at_a_time(std::int64_t side, std::ptrdiff_t source_pitch) {
    return 2 * side <= kRowsAtATime && fit_cache(2 * side, source_pitch) ? 2 : 1;
}

// If the distance of rows is a power of two, writing one row of the destination after the other keeps few of memory's
// banks busy. So it alternates between squares of all strips, whose lines are neighbours, and of all positions.
void transpose_squares(const job& j, const patch& p) {
    const auto transpose = p.waiting == nullptr ? j.use.transpose_lines : j.use.transpose_joined;
    const int side = static_cast<int>(j.side()), fetched = lines_of_fetch(side);
    const std::int64_t rows = p.strips * side;
    assert(p.strips * p.positions * fetched <= kMostSquares);
    const std::int64_t along = std::clamp<std::int64_t>(kMostSquares / (p.strips * p.positions), fetched,
                                                        std::max(kFetchedLines, kLeastTogether / side));
    square list[kMostSquares];
    for (std::int64_t first = 0; first < p.squares; first += along) {
        // Fetch what comes after this list: a piece of each row as long as the list, with a part for each square.
        const byte* next_position = first + along < p.squares ? p.source + (first + along) * kLineBytes : p.next;
        std::int64_t next_row = 0, next_line = 0;
        int count = 0;
        for (std::int64_t i = first; i < std::min(first + along, p.squares); ++i) {
            for (std::int64_t position = 0; position < p.positions; ++position) {
                const std::int64_t col = position * p.apart + i * side;
                for (std::int64_t strip = 0; strip < p.strips; ++strip) {
                    square& s = list[count++];
                    s.from = p.source + strip * side * j.source_pitch + col * j.size;
                    s.to = p.destination + col * j.destination_pitch + strip * kLineBytes;
                    s.fetch = nullptr;
                    s.waiting = p.waiting == nullptr ? nullptr : p.waiting + col * kLineBytes;
                    s.begins = p.begins && strip == 0;
                    s.ends = p.ends && strip == p.strips - 1;
                    if (next_position == nullptr) continue;
                    s.fetch = next_position + next_row * j.source_pitch + next_line * kLineBytes;
                    next_line += fetched;
                    if (next_line < along) continue;
                    next_line = 0;
                    next_row += rows_of_fetch(side);
                    if (next_row < rows) continue;
                    next_row = 0;
                    next_position += p.apart * j.size;
                }
            }
        }
        transpose(list, count, j.source_pitch, j.destination_pitch);
    }
}

transpose_strip_function transpose_strip_for(const job& j) {
    if (j.cols < kLeastCols) return nullptr;
    if (j.side() * j.destination_pitch % kMiB == 0) return transpose_runs;
    return j.use.transpose_copied == nullptr || fit_cache(j.side(), j.source_pitch) ? nullptr : transpose_copies;
}

}  // namespace cornerturn::host
