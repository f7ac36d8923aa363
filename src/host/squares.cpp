#include "host/squares.hpp"

#include <numeric>

namespace cornerturn::host {
namespace {

constexpr std::int64_t kCacheWayBytes = 128 * kKiB, kCacheWays = 16;  // of the second-level cache

// What was fetched of so many rows stays in that cache until all of it is turned.
bool fit_cache(std::int64_t rows, std::ptrdiff_t pitch) {
    return rows <= kCacheWays * (kCacheWayBytes / std::gcd(std::int64_t{pitch}, kCacheWayBytes));
}

}  // namespace

std::int64_t strips_at_a_time(std::int64_t side, std::ptrdiff_t source_pitch) {
    return 2 * side <= kRowsAtATime && fit_cache(2 * side, source_pitch) ? 2 : 1;
}

// Who writes one row of the destination after the other keeps few of memory's banks busy where rows are a power of two
// apart. So squares of all strips, whose lines lie side by side, and of all places are turned by turns.
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

}  // namespace cornerturn::host
