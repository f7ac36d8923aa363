// How pieces of a strided copy are assigned to threads, and the predicted cost: see kernel_arguments.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "ops/copy/kernels/cuts.hpp"

namespace cornerturn::strided {

// Pieces, one or several for each thread.
struct units_cut {
    const strided_copy& c;
    int unit, units, piece;  // units in a piece; its bytes
    std::int64_t pieces;

    explicit units_cut(const strided_copy& copy)
        : c(copy),
          unit(copy.unit()),
          units(unit < kVector && copy.run / unit % 3 == 0 ? 3 : 1),
          piece(units * unit),
          pieces(copy.runs() * (copy.run / piece)) {}

    // Moving single bytes takes too many instructions.
    bool possible() const { return piece >= 2 && pieces <= kMostRuns; }
    int each() const {
        constexpr std::int64_t kFew = 2 << 20;
        return pieces <= kFew || units > 1 ? 1 : kPiecesOfThread;
    }
    std::int64_t blocks() const { return up<std::int64_t>(pieces, each() * kMostThreads); }
    int rank() const { return c.rank + (c.run > piece ? 1 : 0); }

    // Runs that are neighbours in the destination and near each other in the source share what one read from memory
    // fetches. Other runs fetch it again. The destination may alternate between several streams of runs.
    double cost(const gpu& on) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        std::uint64_t from = c.source;
        for (int i = 0; i < c.rank; ++i) from |= bits(c.axes[static_cast<std::size_t>(i)].source);
        std::int64_t length = c.run, reads = c.runs(), moved = c.run, streams = 1;
        constexpr std::int64_t kNear = 4 << 20;  // bytes
        for (int i = 0; i < c.rank && moved < kNear; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            if (std::abs(a.source) <= length + kFetched) {
                length += (a.extent - 1) * std::abs(a.source);
                reads /= a.extent;
            } else if ((streams *= a.extent) > kMostStreams) {
                break;
            }
            moved *= a.extent;
        }
        const double touched = f(length - std::min(alignment(from, kFetched), length)) / kFetched + 1;
        const double read = f(reads) * touched * kFetched;
        const double bytes = f(c.bytes()) + read + kGapPart * bytes_cut_by_gaps(c);
        const double instructions =
            f(pieces) / kWarp * (kOfDirect + kOfDirectAxis * rank() + kOfDirectUnit * (units - 1));
        // Sectors that hold several lanes' units are requested again for each unit of a piece.
        const std::int64_t apart = rank() > c.rank || c.rank == 0 ? piece : std::abs(c.axes[0].source);
        const double asked = (f(c.bytes()) + f(pieces * std::clamp<std::int64_t>(apart, piece, kSector))) * units;
        const double memory = bytes / bytes_per_us(c, on), issue = instructions / kInstructionsPerUs;
        const double cache = kOfDirectBytes * asked / kCacheBytesPerUs;
        return (each() == 1 ? kLaunchOfFewUs : kLaunchUs) + norm(memory, issue, cache) / on.multiprocessors;
    }

    void fill(plan& p) const {
        units_work& w = p.pieces;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.pieces = static_cast<unsigned>(pieces);
        if (c.run > piece)
            w.of_pieces.axes[w.of_pieces.rank++] = {divider(static_cast<unsigned>(c.run / piece)), piece, piece};
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            w.of_pieces.axes[w.of_pieces.rank++] = {divider(static_cast<unsigned>(a.extent)), a.source, a.destination};
        }
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.units = units;
        p.each = each();
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::strided
