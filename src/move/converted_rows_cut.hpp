// How the vectors of runs that are converted are assigned to threads: see kernels/work.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "move/converted_pairs.hpp"
#include "move/cost.hpp"
#include "move/cuts.hpp"

namespace cornerturn::moves {

struct converted_rows_cut {
    const strided_copy& c;
    int unit, source_unit, of_vector, first_axis = 0;
    std::int64_t run, rows, vectors, line_step = 0;  // elements; runs; vectors of a run; of its scales and biases

    explicit converted_rows_cut(const strided_copy& copy)
        : c(copy),
          unit(copy.unit()),
          source_unit(copy.source_unit()),
          of_vector(kVectorBytes / std::max(unit, source_unit)),
          run(copy.run / unit),
          rows(copy.runs()) {
        // Scales and biases that follow each other within a run keep its elements apart as an axis.
        if (run == 1 && c.rank > 0 && c.axes[0].source == source_unit && c.axes[0].destination == unit) {
            run = c.axes[0].extent;
            rows /= run;
            line_step = c.axes[0].factor;
            first_axis = 1;
        }
        vectors = up<std::int64_t>(run + of_vector - 1, of_vector);  // runs begin anywhere in a vector
    }
    // Short runs leave most of their vectors in parts.
    bool possible() const {
        return pair_of(c.cast) >= 0 && (run >= 2 * of_vector || rows == 1) && rows * vectors <= kMostRuns;
    }
    std::int64_t blocks() const { return up<std::int64_t>(rows * vectors, kVectorsConverted * kMostThreads); }

    // `touched`: bytes of the pieces of 64 bytes that hold the source.
    counts count(double touched) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        counts n = counts_of_memory(c, touched, fetched_bytes(c, kFarWindow));
        n.parts = rows > 1 ? f(rows) : 0;
        n.line = f(run * unit);
        n.span = f(run * source_unit);
        n.blocks = f(blocks());
        n.resident = 8;
        const double vectors_of_warps = f(rows * vectors) / kWarp;
        n.instructions[2] = vectors_of_warps;
        n.instructions[4] = vectors_of_warps * c.rank;
        n.instructions[7] = n.blocks;
        n.waits[0] = 1;
        return n;
    }

    void fill(plan& p) const {
        converted_rows_work& w = p.converted_rows;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.run = run;
        w.all = static_cast<unsigned>(rows * vectors);
        w.by_vectors = divider(static_cast<unsigned>(vectors));
        if (const int i = c.factor_axis(); i < c.rank && i >= first_axis) {
            p.cast.tile_axis = i - first_axis;
            p.cast.tile_step = c.axes[static_cast<std::size_t>(i)].factor;
        }
        p.cast.line_step = static_cast<int>(line_step);
        add_axes(c, first_axis, w.runs);
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::moves
