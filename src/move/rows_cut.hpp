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

// A copy of runs, cut into blocks. Vectors are the destination's.
struct rows_cut {
    const strided_copy& c;
    int unit, source_unit, first_axis = 0;  // the axes before are part of the run
    std::int64_t run, rows, vectors, lanes, pieces = 1, rows_of_block = 1;
    std::int64_t line_step = 0;  // from unit to unit, of a conversion's scales and biases
    int relative_alignment;
    std::int64_t alignment_of_run;

    explicit rows_cut(const strided_copy& copy)
        : c(copy), unit(copy.unit()), source_unit(copy.source_unit()), run(copy.run), rows(copy.runs()) {
        // An axis along which scales and biases change is never part of the copy's run.
        if (run == unit && c.converts() && c.rank > 0 && c.axes[0].source == source_unit &&
            c.axes[0].destination == unit) {
            run *= c.axes[0].extent;
            rows /= c.axes[0].extent;
            line_step = c.axes[0].factor;
            first_axis = 1;
        }
        std::uint64_t distance = c.source - c.destination, to = c.destination;
        for (int i = first_axis; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            distance |= bits(a.source) - bits(a.destination);
            to |= bits(a.destination);
        }
        relative_alignment = static_cast<int>(alignment(distance, kVectorBytes));
        alignment_of_run = alignment(to, kSector);
        const std::int64_t misaligned =
            alignment_of_run < kVectorBytes ? kVectorBytes - std::min<std::int64_t>(unit, kVectorBytes) : 0;
        vectors = up<std::int64_t>(run + misaligned, kVectorBytes);
        // Vectors of a thread, and of a block.
        const std::int64_t read = kVectorBytes / unit * source_unit,
                           at_once = c.converts() ? rows_vectors_at_once(unit, source_unit) : 1;
        const std::int64_t of_block = kMostThreads * at_once, of_few = std::max<std::int64_t>(1024, of_block);
        if (vectors > of_few / 2) {
            pieces = up(vectors, of_block);
            vectors = of_block;
            lanes = kMostThreads;
        } else {
            rows_of_block = std::max<std::int64_t>(1, (vectors > 32 ? of_few : of_block) / vectors);
            rows_of_block = std::min(rows_of_block, rows);
            // Threads side by side read and write whole sectors.
            const std::int64_t least = std::max<std::int64_t>(kSector / kVectorBytes, kSector / read);
            lanes = up(vectors, std::clamp<std::int64_t>(vectors / least, 1, at_once));
        }
    }
    std::int64_t blocks() const { return up(rows, rows_of_block) * pieces; }
    bool whole_vectors() const { return alignment_of_run >= kVectorBytes && run % kVectorBytes == 0; }
    // The short runs of most conversions would leave vectors in parts.
    bool possible() const { return !c.converts() || run >= 2 * kVectorBytes || rows == 1; }

    // `touched`: bytes of the pieces of 64 bytes that hold the source.
    counts count(double touched) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        counts n = counts_of_memory(c, touched, fetched_bytes(c, kFarWindow));
        n.parts = alignment_of_run < kSector ? f(rows) : 0;
        n.line = f(run);
        n.span = f(run / unit * source_unit);
        n.blocks = f(blocks());
        n.resident = f(resident_threads_of_rows(c.converts()) / kMostThreads);
        // A vector's instructions depend on how far its source is from a vector.
        const double vectors_of_warps = f(rows * pieces * vectors) / kWarp;
        const std::size_t kind = c.converts()               ? 2
                                 : relative_alignment >= 16 ? 0
                                 : relative_alignment >= 8  ? 1
                                 : relative_alignment >= 4  ? 2
                                                            : 3;
        n.instructions[kind] = vectors_of_warps;
        // A thread works out once where its vectors are.
        const double threads_of_warps = f(rows * pieces * lanes) / kWarp;
        if (c.converts()) n.instructions[0] = threads_of_warps;
        n.instructions[4] = threads_of_warps * (c.rank - first_axis);
        if (unit < kVectorBytes && !whole_vectors()) {
            n.instructions[5] = f(rows) / unit;  // warps, with one unit for each thread
            n.instructions[6] = n.instructions[5] * (c.rank - first_axis);
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
        w.run = run;
        w.rows = static_cast<unsigned>(rows);
        w.rows_of_block = static_cast<unsigned>(rows_of_block);
        w.vectors = static_cast<unsigned>(vectors);
        w.whole_vectors = whole_vectors();
        w.by_lanes = divider(static_cast<unsigned>(lanes));
        w.by_pieces = divider(static_cast<unsigned>(pieces));
        if (const int i = c.factor_axis(); i < c.rank && i >= first_axis) {
            p.cast.tile_axis = i - first_axis;
            p.cast.tile_step = c.axes[static_cast<std::size_t>(i)].factor;
        }
        p.cast.line_step = static_cast<int>(line_step);
        add_axes(c, first_axis, w.runs);
        p.relative_alignment = relative_alignment;
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::moves
