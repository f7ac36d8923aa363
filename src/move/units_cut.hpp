// How pieces of a strided copy are assigned to threads, and the predicted cost: see kernels/work.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "move/cost.hpp"
#include "move/cuts.hpp"

namespace cornerturn::moves {

// Pieces, one or several for each thread.
struct units_cut {
    const strided_copy& c;
    int unit, units, piece;  // units in a piece; its bytes
    std::int64_t pieces;

    explicit units_cut(const strided_copy& copy)
        : c(copy),
          unit(copy.unit()),
          units(unit < kVectorBytes && copy.run / unit % 3 == 0 && !copy.converts() ? 3 : 1),
          piece(units * unit),
          pieces(copy.runs() * (copy.run / piece)) {}

    // Moving single bytes takes too many instructions. Conversions have no other way if all else fails.
    bool possible() const { return (piece >= 2 || c.converts()) && pieces <= kMostRuns; }
    int each() const {
        constexpr std::int64_t kFew = 2 << 20;
        return pieces <= kFew || units > 1 || c.converts() ? 1 : kPiecesOfThread;
    }
    std::int64_t blocks() const { return up<std::int64_t>(pieces, each() * kMostThreads); }
    int rank() const { return c.rank + (c.run > piece ? 1 : 0); }

    // `touched`: bytes of the pieces of 64 bytes that hold the source.
    counts count(double touched) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        const double fetched = fetched_bytes(c, kFarWindow), near = fetched_bytes(c, kNearWindow);
        counts n = counts_of_memory(c, touched, fetched);
        const double far = std::max(n.read, fetched);
        n.line = f(piece);
        n.span = f(c.run);
        n.blocks = f(blocks());
        n.resident = 6;
        n.instructions[0] = f(pieces) / kWarp;
        n.instructions[1] = n.instructions[0] * rank();
        n.instructions[2] = n.instructions[0] * (units - 1);
        n.instructions[3] = f(blocks());
        // Sectors that hold several lanes' units are requested again for each unit of a piece.
        const std::int64_t apart = rank() > c.rank || c.rank == 0 ? piece : std::abs(c.axes[0].source);
        n.wavefronts[0] = (n.written + f(pieces * std::clamp<std::int64_t>(apart, piece, kSector))) * units / 1000;
        n.wavefronts[1] = std::max(0.0, near - far) / 1000;
        n.waits[0] = each() > 1 ? 1 : 0;
        n.waits[1] = each() > 1 ? 0 : 1;
        return n;
    }

    void fill(plan& p) const {
        units_work& w = p.pieces;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.pieces = static_cast<unsigned>(pieces);
        if (c.run > piece)
            w.of_pieces.axes[w.of_pieces.rank++] = {divider(static_cast<unsigned>(c.run / piece)),
                                                    c.converts() ? c.source_unit() : piece, piece};
        if (const int i = c.factor_axis(); i < c.rank) {
            p.cast.tile_axis = w.of_pieces.rank + i;
            p.cast.tile_step = c.axes[static_cast<std::size_t>(i)].factor;
        }
        add_axes(c, 0, w.of_pieces);
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.units = units;
        p.each = each();
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::moves
