// What the ways to cut a copy share.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "move/cost.hpp"
#include "move/policy.hpp"

namespace cornerturn::moves {

inline constexpr int kVectorBytes = 16, kSector = 32,
                     kFetched = 64;         // bytes; kFetched is what one read from memory fetches
inline constexpr int kMostTable = 2048;     // units
inline constexpr int kWarp = 32;            // threads
inline constexpr int kLongSpan = 128;       // bytes
inline constexpr int kWorthALine = 96;      // bytes of a span: in longer ones, each vector fetches 128 bytes
inline constexpr int kVectorsOfThread = 8;  // approximately
inline constexpr int kLooksForCopies = 32;  // at each entry of a table: with more, copies of the table pay
// The least bytes, between gaps of the destination, for which a tile writes vectors. Pieces of bytes begin anywhere.
// With fewer than 64, they fill few vectors, and up to 32 threads would write the rest.
inline constexpr int kLeastOfVectors = 16, kLeastOfVectorsOfBytes = 64;
inline constexpr int kMostShared = 80 << 10;  // bytes of a block

inline constexpr double kFewConflicts = 1.6;                      // below this, other positions are not worth a search
inline constexpr double kManyConflicts = 3, kManyForShifted = 5;  // from here on, groups of lines are worthwhile
inline constexpr int kNoSkew = 30;
// Bytes that are written until a piece of the source leaves the L2, or the caches nearer to the multiprocessors.
inline constexpr std::int64_t kFarWindow = 16 << 20, kNearWindow = 256 << 10;
inline constexpr std::int64_t kMostBytesOfWindow = std::int64_t{1} << 62;  // no piece ever leaves
inline constexpr std::int64_t kLeastOfGroup = 8;  // bytes of a vector that belong to a group of lines

template <class T>
constexpr T up(T x, T by) {
    return x / by + (x % by != 0 ? 1 : 0);
}

// The largest power of two, at most `most`, that divides all addresses whose bits are or'ed together in `bits`.
inline std::int64_t alignment(std::uint64_t bits, std::uint64_t most) {
    return static_cast<std::int64_t>(std::uint64_t{1} << std::countr_zero(bits | most));
}
inline std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

// The destination's pieces without gaps: the bytes of each, the axis along which the next piece follows after a gap
// (c.rank if there is none), and the bits of all addresses at which they begin.
struct piece_without_gaps {
    std::int64_t bytes;
    int next = 0;
    std::uint64_t begins;

    explicit piece_without_gaps(const strided_copy& c) : bytes(c.run), begins(c.destination) {
        const auto axis = [&](int i) -> const strided_axis& { return c.axes[static_cast<std::size_t>(i)]; };
        for (; next < c.rank && axis(next).destination == bytes; ++next) bytes *= axis(next).extent;
        for (int i = next; i < c.rank; ++i) begins |= bits(axis(i).destination);
    }
};

// What gaps in the destination cost: about the bytes of the sectors that they cause to be written in part.
inline double bytes_cut_by_gaps(const strided_copy& c) {
    const auto [line, next, begins] = piece_without_gaps(c);
    if (next == c.rank) return 0;
    const std::int64_t pitch = c.axes[static_cast<std::size_t>(next)].destination, lines = c.bytes() / line;
    const bool begin_at_sectors = alignment(begins, kSector) == kSector;
    const std::int64_t cut = !begin_at_sectors     ? kSector + std::min<std::int64_t>(pitch - line, kSector)
                             : line % kSector != 0 ? kSector
                                                   : 0;
    return static_cast<double>(lines) * static_cast<double>(std::min(pitch, cut));  // neighbours share sectors
}

// Bytes of the 64-byte pieces of the source that are fetched in the order of the destination, if a piece stays in the
// cache while `window` bytes are written.
inline double fetched_bytes(const strided_copy& c, std::int64_t window) {
    // The axes within the window, by the source's distance; how often the window is filled; bytes of a stretch without
    // large gaps; stretches.
    std::array<strided_axis, kMostAxes> inner;
    int count = 0;
    std::int64_t written = c.run;
    double windows = 1;
    std::uint64_t begins = c.source;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        const std::int64_t steps =
            written >= window ? 1 : std::min(a.extent, std::max<std::int64_t>(1, window / written));
        windows *= static_cast<double>(up(a.extent, steps));
        written *= a.extent;
        begins |= bits(a.source);
        if (steps == 1 || a.source == 0) continue;
        int at = count++;
        for (; at > 0 && inner[static_cast<std::size_t>(at - 1)].source > std::abs(a.source); --at)
            inner[static_cast<std::size_t>(at)] = inner[static_cast<std::size_t>(at - 1)];
        inner[static_cast<std::size_t>(at)] = {steps, std::abs(a.source), 0};
    }
    std::int64_t length = c.source_run();
    double stretches = 1;
    for (int i = 0; i < count; ++i) {
        const strided_axis& a = inner[static_cast<std::size_t>(i)];
        if (a.source <= length + kFetched && stretches == 1) {
            length += (a.extent - 1) * a.source;
        } else {
            stretches *= static_cast<double>(a.extent);
        }
    }
    const std::int64_t aligned = alignment(begins, kFetched);
    const double pieces = aligned == kFetched && length % kFetched == 0
                              ? static_cast<double>(length) / kFetched
                              : static_cast<double>(length - std::min(aligned, length)) / kFetched + 1;
    return windows * stretches * pieces * kFetched;
}

// How often elements of the source are copied.
inline double repeats_of(const strided_copy& c) {
    double all = 1;
    for (int i = 0; i < c.rank; ++i) {
        if (c.axes[static_cast<std::size_t>(i)].source == 0)
            all *= static_cast<double>(c.axes[static_cast<std::size_t>(i)].extent);
    }
    return all;
}

// What a copy without tiles does to memory. `touched`: bytes of the pieces of 64 bytes that hold the source. `fetched`:
// bytes of those that are fetched in the order of the destination.
inline counts counts_of_memory(const strided_copy& c, double touched, double fetched) {
    counts n;
    n.written = static_cast<double>(c.bytes());
    n.read = static_cast<double>(c.source_bytes()) / repeats_of(c);
    n.waste = std::max(0.0, touched - n.read);
    n.over = std::max(0.0, fetched - n.read - n.waste);
    n.gaps = bytes_cut_by_gaps(c);
    return n;
}

// Adds the copy's axes from `first` on.
inline void add_axes(const strided_copy& c, int first, places& to) {
    for (int i = first; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        to.axes[to.rank++] = {divider(static_cast<unsigned>(a.extent)), a.source, a.destination};
    }
}

}  // namespace cornerturn::moves
