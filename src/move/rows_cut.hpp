// How runs of a strided copy are assigned to blocks, and the predicted cost: see kernels/work.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "move/cost.hpp"
#include "move/cuts.hpp"

namespace cornerturn::moves {

// A copy of runs, cut into blocks.
struct rows_cut {
    const strided_copy& c;
    std::int64_t rows, vectors, pieces = 1, rows_of_block = 1;
    int relative_alignment, unit;
    std::int64_t alignment_of_run;

    explicit rows_cut(const strided_copy& copy) : c(copy), rows(copy.runs()), unit(copy.unit()) {
        std::uint64_t distance = c.source - c.destination, to = c.destination;
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            distance |= bits(a.source) - bits(a.destination);
            to |= bits(a.destination);
        }
        relative_alignment = static_cast<int>(alignment(distance, kVectorBytes));
        alignment_of_run = alignment(to, kSector);
        const std::int64_t misaligned =
            alignment_of_run < kVectorBytes ? kVectorBytes - std::min<std::int64_t>(unit, kVectorBytes) : 0;
        vectors = up<std::int64_t>(c.run + misaligned, kVectorBytes);
        constexpr std::int64_t kOfBlock = 256, kOfFew = 1024;  // vectors
        if (vectors > kOfFew / 2) {
            pieces = up(vectors, kOfBlock);
            vectors = kOfBlock;
        } else {
            rows_of_block = std::max<std::int64_t>(1, (vectors > 32 ? kOfFew : kOfBlock) / vectors);
            rows_of_block = std::min(rows_of_block, rows);
        }
    }
    std::int64_t blocks() const { return up(rows, rows_of_block) * pieces; }

    // `touched`: bytes of the pieces of 64 bytes that hold the source.
    counts count(double touched) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        counts n = counts_of_memory(c, touched, fetched_bytes(c, kFarWindow));
        n.parts = alignment_of_run < kSector ? f(rows) : 0;
        n.line = n.span = f(c.run);
        n.blocks = f(blocks());
        n.resident = 8;
        // A vector's instructions depend on how far its source is from a vector.
        const double vectors_of_warps = f(rows * pieces * vectors) / kWarp;
        const std::size_t kind = relative_alignment >= 16  ? 0
                                 : relative_alignment >= 8 ? 1
                                 : relative_alignment >= 4 ? 2
                                                           : 3;
        n.instructions[kind] = vectors_of_warps;
        n.instructions[4] = vectors_of_warps * c.rank;
        if (unit < kVectorBytes) {
            n.instructions[5] = f(rows) / unit;  // warps, with one unit for each thread
            n.instructions[6] = n.instructions[5] * c.rank;
        }
        n.instructions[7] = f(blocks());
        n.waits[0] = 1;
        return n;
    }

    void fill(plan& p) const {
        rows_work& w = p.rows;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.first = reinterpret_cast<const unsigned char*>(c.source_begin());
        w.last = reinterpret_cast<const unsigned char*>(c.source_end());
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.run = c.run;
        w.rows = static_cast<unsigned>(rows);
        w.rows_of_block = static_cast<unsigned>(rows_of_block);
        w.vectors = static_cast<unsigned>(vectors);
        w.by_vectors = divider(w.vectors);
        w.by_pieces = divider(static_cast<unsigned>(pieces));
        add_axes(c, 0, w.runs);
        p.relative_alignment = relative_alignment;
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::moves
