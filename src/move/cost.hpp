// What a way to move a copy has to do, in counts, and the time that is predicted from them. machine.hpp has what each
// count takes; bench/fit_moves.py writes it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/gpu.hpp"

namespace cornerturn::moves {

inline constexpr int kUnits = 5;  // units of 1, 2, 4, 8 and 16 bytes
inline constexpr int kInstructions = 11, kWavefronts = 3, kWaits = 4;

struct counts {
    // ---- Memory, in bytes
    double written = 0;         // the payload
    double read = 0;            // of the source, what is repeated counted once
    double waste = 0;           // fetched beside that, in pieces of 64 bytes, and used by no block
    double over = 0;            // fetched beside that, because blocks share pieces
    double over_apart = 0;      // moved between two fetches of a piece that blocks share
    double again = 0;           // fetched again because the source is repeated
    double again_apart = 0;     // moved between those
    double parts = 0;           // sectors of the destination that blocks share, a number
    double parts_apart = 0;     // moved between two writes of one
    double gaps = 0;            // about the bytes of sectors that gaps of the destination cut
    double line = 1, span = 1;  // pieces of the destination and of the source, in the mean
    // ---- Multiprocessors
    std::array<double, kInstructions> instructions{};  // of warps, by kind
    std::array<double, kWavefronts> wavefronts{};      // of shared memory or the L2, by kind
    std::array<double, kWaits> waits{};                // of one block, by kind
    double hot = 0;                                    // requests of the same sectors of the L2
    double blocks = 1, resident = 1;                   // in all; that a multiprocessor holds
    bool groups = false;                               // tiles by groups of lines have constants of their own
};

// What the counts of one kernel family take, for units of each size.
struct cost_constants {
    // Bytes lost for each byte of a line, or of a span, of 2^4, 2^5, ... bytes.
    std::array<double, 9> line_loss, span_loss;
    // Bytes for each byte: of waste; over, near and far; again, near and far; for each part, near and far; of gaps.
    std::array<std::array<double, kUnits>, 8> memory;
    std::array<std::array<double, kUnits>, kInstructions> instruction;  // nanoseconds of a multiprocessor
    std::array<std::array<double, kUnits>, kWavefronts> wavefront;      // the same
    std::array<std::array<double, kUnits>, kWaits> wait;                // microseconds
    double hot;                                                         // nanoseconds
    double first;                                                       // part of a block's time, before memory is busy
    double overlap;  // part of the smaller of two bounds that does not overlap with the larger, of one resident block
    double tail, drain;  // parts of the time: what the last of few waves leaves idle; for waves that are not full
};

// (a^4 + b^4 + c^4 + d^4)^(1/4): the largest, or somewhat more if others are nearly as large. It avoids the
// mathematical library, because programs in C would have to link that.
constexpr double norm(double a, double b, double c, double d) {
    const double ab = a > b ? a : b, cd = c > d ? c : d, most = ab > cd ? ab : cd;
    if (most <= 0) return 0;
    const auto fourth = [](double x) { return x * x * (x * x); };
    const double part = 1 / most;
    const double sum = fourth(a * part) + fourth(b * part) + fourth(c * part) + fourth(d * part);  // 1 to 4
    // Newton's method for 1 / root, which needs no division, from the parabola that is right for sums of 1, 2 and 4.
    double inverse = 1 - (sum - 1) * (0.18983 - 0.03073 * (sum - 1));
    for (int i = 0; i < 3; ++i) inverse *= 1.25 - 0.25 * sum * fourth(inverse);
    return most * sum * (inverse * inverse * inverse);
}
static_assert(norm(1, 1, 1, 1) > 1.41421 && norm(1, 1, 1, 1) < 1.41422 && norm(0, 3, 0, 0) > 2.999999 &&
              norm(0, 3, 0, 0) < 3.000001);

// The loss at a length, between those at powers of two.
inline double loss_at(const std::array<double, 9>& loss, double length) {
    const auto whole = static_cast<std::uint64_t>(length);
    const int log = std::bit_width(whole) - 1;
    if (log < 4) return loss[0];
    if (log >= 4 + 8) return loss[8];
    const double part = length / static_cast<double>(std::uint64_t{1} << log) - 1;
    const auto at = static_cast<std::size_t>(log - 4);
    return loss[at] + part * (loss[at + 1] - loss[at]);
}

// Predicted microseconds. `unit` is the logarithm of its bytes. The factors are those of a row of the family's table.
double cost_of(const counts& n, const cost_constants& k, int unit, const gpu& on, double memory_factor = 1,
               double work_factor = 1);

std::vector<double> in_order(const counts& n);  // for bench/fit_moves.py

}  // namespace cornerturn::moves
