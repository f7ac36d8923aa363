// What the cuts of strided copies share: sizes, and the terms of the predicted cost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn::strided {

inline constexpr int kVector = 16, kSector = 32, kFetched = 64;  // bytes; kFetched is what one read from memory fetches
inline constexpr int kMostTable = 2048;                          // units
inline constexpr int kWarp = 32;                                 // threads
inline constexpr int kLongSpan = 128;                            // bytes
inline constexpr int kWorthALine = 96;      // bytes of a span: in longer ones, each vector fetches 128 bytes
inline constexpr int kVectorsOfThread = 8;  // approximately
inline constexpr int kLooksForCopies = 32;  // at each entry of a table: with more, copies of the table pay
// The least bytes, between gaps of the destination, for which a tile writes vectors. Pieces of bytes begin anywhere.
// With fewer than 64, they fill few vectors, and up to 32 threads would write the rest.
inline constexpr int kLeastOfVectors = 16, kLeastOfVectorsOfBytes = 64;
inline constexpr int kMostShared = 80 << 10;  // bytes of a block

// The terms of the cost, for a multiprocessor of an H200. They are fitted to measurements of every tile, for random
// shapes (docs/experiments/copies.md).
inline constexpr double kDramBytesPerUs = 34300;  // a multiprocessor's share
inline constexpr double kCacheBytesPerUs = 81100;
inline constexpr double kOverread = 0.897;                      // for bytes that are read but not used
inline constexpr double kPart = 10.1, kGapPart = 2.44;          // for sectors that tiles share; for sectors cut by gaps
inline constexpr double kShortLine = 0.781, kShortSpan = 15.7;  // loss from short pieces
inline constexpr double kInstructionsPerUs = 3340;              // of warps
inline constexpr double kWavefrontsPerUs = 2390;                // of shared memory
inline constexpr double kFewConflicts = 1.6;                    // below this, other positions are not worth a search
inline constexpr double kManyConflicts = 3, kManyForShifted = 5;  // from here on, groups of lines are worthwhile
inline constexpr int kNoSkew = 30;
inline constexpr double kSetup = 49.3, kSetupOfAxis = 8.32;  // instructions of a block's warp
inline constexpr double kOfChunk = 31.9;                     // instructions for each vector that is read
inline constexpr double kOfSpan = 1.22;                      // wavefronts for each 128 bytes that a span touches
inline constexpr double kReused = 32.9, kOfUnits = 2.82;     // for a vector with known positions; for its units
inline constexpr double kOfCopy = 19.3;                      // for a vector that was gathered before
inline constexpr double kLooked = 9.28, kOfLooked = 2.61;  // for a vector whose positions are looked up; for its units
inline constexpr double kOfSingleLook = 1.23;              // more for each unit, if the table has only one copy
inline constexpr double kOfGap = 58.9, kOfEnd = 465;       // for a vector, if there are gaps; for the ends of lines
inline constexpr std::int64_t kLeastOfGroup = 8;           // bytes of a vector that belong to a group of lines
inline constexpr double kOfGroup = 72.2, kOfVector = 18.4,
                        kOfShifted = 28.1;  // instructions for each word of a group; for each vector that it loads
inline constexpr double kOfWord = 11.4, kOfAlignedWord = 5.97;  // instructions for each line of a group's word
inline constexpr double kWait = 2, kWaitOfVector = 0.441;       // microseconds of a block; of a thread's vector
inline constexpr double kAlone = 0.43;                          // part of a block's other times that does not overlap
inline constexpr double kFirst = 0.256;                         // part of a block's time, before memory is busy
inline constexpr double kTail = 0.125;                          // part of what the last wave leaves idle
inline constexpr double kRunOfAxis = 28.1,
                        kRunEnd = 32.6;                          // instructions of a vector of a run, and of its ends
inline constexpr double kOfDirect = 22.1, kOfDirectAxis = 13.9;  // instructions of a piece that is moved without a tile
inline constexpr double kOfDirectUnit = 5.62;                    // of each of its units except the first
inline constexpr double kOfDirectBytes = 0.383;   // of the L2's time, for bytes that a warp requests from it
inline constexpr std::int64_t kMostStreams = 16;  // streams of the source that neighbouring runs come from
inline constexpr double kLaunchUs = 1.21, kLaunchOfFewUs = 0.764;  // the second if a thread moves one piece

// Bytes that a multiprocessor moves in a microsecond. This is the L2's rate if source and destination fit there.
inline double bytes_per_us(const strided_copy& c, const gpu& on) {
    return 2 * c.bytes() <= on.l2_bytes * 3 / 4 ? kCacheBytesPerUs : kDramBytesPerUs;
}

// (a^6 + b^6 + c^6)^(1/6): the largest, or somewhat more if others are nearly as large. It avoids the mathematical
// library, because programs in C would have to link that.
constexpr double norm(double a, double b, double c) {
    const double most = a > b ? (a > c ? a : c) : (b > c ? b : c);
    const auto sixth = [](double x) { return x * x * x * x * x * x; };
    const double sum = sixth(a / most) + sixth(b / most) + sixth(c / most);  // 1 to 3
    double root = 1 + (sum - 1) / 9;
    for (int i = 0; i < 4; ++i) root -= (sixth(root) - sum) / (6 * sixth(root) / root);  // Newton's method
    return most * root;
}
static_assert(norm(1, 1, 1) > 1.20093 && norm(1, 1, 1) < 1.20095 && norm(0, 3, 0) == 3);

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

}  // namespace cornerturn::strided
