// What the cuts of strided copies share: sizes, and what the predicted cost is made of.
#pragma once

#include <bit>
#include <cstdint>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn::strided {

inline constexpr int kVector = 16, kSector = 32;  // bytes
inline constexpr int kMostTable = 2048;           // units
inline constexpr int kWarp = 32;                  // threads
inline constexpr int kLongSpan = 128;             // bytes
inline constexpr int kWorthALine = 96;            // of a span, for 128 bytes to be fetched with each of its vectors
inline constexpr int kVectorsOfThread = 8;        // about
inline constexpr int kMostShared = 80 << 10;      // bytes of a block

// What the cost is made of, for a multiprocessor of an H200: fitted to what was measured there of every tile, for
// shapes drawn at random (docs/experiments.md).
inline constexpr double kDramBytesPerUs = 2.95e4;  // a multiprocessor's share
inline constexpr double kCacheBytesPerUs = 95300;
inline constexpr double kOverread = 0.553, kPart = 8.33;          // bytes that are read beside, sectors written in part
inline constexpr double kShortLine = 0.762, kShortSpan = 16.9;    // what short pieces lose
inline constexpr double kInstructionsPerUs = 4500;                // of warps
inline constexpr double kWavefrontsPerUs = 2420;                  // of shared memory
inline constexpr double kFewConflicts = 1.6;                      // not worth looking for other places
inline constexpr double kManyConflicts = 3, kManyForShifted = 5;  // worth moving groups of lines
inline constexpr int kNoSkew = 30;
inline constexpr double kSetup = 113, kSetupOfAxis = 18.9;  // instructions of a block's warp
inline constexpr double kReused = 27.5, kOfUnits = 6.03;    // of a vector written, whose places are known
inline constexpr double kOfCopy = 19.4;                     // of one that was gathered before
inline constexpr double kLooked = 12, kOfLooked = 1.85;     // whose places are looked up
inline constexpr double kOfGap = 65.3, kOfEnd = 82.2;       // of units between gaps, of the ends of a line
inline constexpr std::int64_t kLeastOfGroup = 8;            // bytes of a vector that a group of lines has
inline constexpr double kOfGroup = 65.2, kOfVector = 15.8,
                        kOfShifted = 31.3;                     // of a group's word, of each of its units
inline constexpr double kOfWord = 11.9, kOfAlignedWord = 4.9;  // of each of its lines
inline constexpr double kWait = 4.02, kWaitOfVector = 0.245;   // microseconds of a block
inline constexpr double kAlone = 0.32;                         // of its other times, which follow each other
inline constexpr double kFirst = 0.372;                        // of a block's time, before memory is busy
inline constexpr double kTail = 0.071;                         // of what the last wave leaves idle
inline constexpr double kRunOfAxis = 42.4,
                        kRunEnd = 29;                            // instructions of a vector of a run, and of its ends
inline constexpr double kOfDirect = 43.7, kOfDirectAxis = 14.6;  // instructions of a unit that is moved by itself
inline constexpr double kLaunchUs = 2, kLaunchOfFewUs = 1.1;     // the second where a thread moves one unit

// A multiprocessor's bytes a microsecond, of memory, or of the L2 where source and destination fit in there.
inline double bytes_per_us(const strided_copy& c, const gpu& on) {
    return 2 * c.bytes() <= on.l2_bytes * 3 / 4 ? kCacheBytesPerUs : kDramBytesPerUs;
}

// (a^6 + b^6 + c^6)^(1/6): the largest, and some more where others are nearly as large. Without the mathematical
// library, which programs in C would have to link.
constexpr double norm(double a, double b, double c) {
    const double most = a > b ? (a > c ? a : c) : (b > c ? b : c);
    const auto sixth = [](double x) { return x * x * x * x * x * x; };
    const double sum = sixth(a / most) + sixth(b / most) + sixth(c / most);  // 1 to 3
    double root = 1 + (sum - 1) / 9;
    for (int i = 0; i < 4; ++i) root -= (sixth(root) - sum) / (6 * sixth(root) / root);  // Newton's
    return most * root;
}
static_assert(norm(1, 1, 1) > 1.20093 && norm(1, 1, 1) < 1.20095 && norm(0, 3, 0) == 3);

template <class T>
constexpr T up(T x, T by) {
    return x / by + (x % by != 0 ? 1 : 0);
}

// The largest power of two up to `most` that divides all of the bits.
inline std::int64_t alignment(std::uint64_t bits, std::uint64_t most) {
    return static_cast<std::int64_t>(std::uint64_t{1} << std::countr_zero(bits | most));
}
inline std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

}  // namespace cornerturn::strided
