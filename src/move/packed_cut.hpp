// How runs that follow each other in the destination are assigned to blocks, and the predicted cost: see
// kernels/work.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "move/cost.hpp"
#include "move/cuts.hpp"

namespace cornerturn::moves {

// The copy must have an axis.
struct packed_cut {
    static constexpr std::int64_t kMostRun = 512;  // bytes. `rows` is as fast for longer runs

    const strided_copy& c;
    int unit;
    std::int64_t step, runs, lines, runs_of_block = 1;

    explicit packed_cut(const strided_copy& copy)
        : c(copy),
          unit(std::min(copy.unit(), 8)),
          step(copy.axes[0].source),
          runs(copy.axes[0].extent),
          lines(copy.runs() / runs) {
        if (c.run > kMostRun) return;                                        // not possible
        const std::int64_t of_sectors = kSector / std::gcd(c.run, kSector);  // runs that fill whole sectors
        runs_of_block = std::max<std::int64_t>(1, bytes_of_block() / (c.run * of_sectors)) * of_sectors;
    }
    bool possible() const {
        constexpr std::int64_t kMostReach = 1 << 30;  // bytes; see packed_work
        return c.axes[0].destination == c.run && c.run <= kMostRun && (unit > 1 || c.run >= 3) &&
               std::abs(step) <= kMostReach / (runs_of_block + 2 * kSector);
    }
    // `rows` is as fast for short lines, and for copies in which everything is aligned to vectors.
    bool is_worthwhile() const { return c.run * runs >= 512 && c.unit() < kVectorBytes; }
    // Where runs are far apart, what larger blocks read does not stay in the L1.
    std::int64_t bytes_of_block() const { return std::abs(step) > 4 * c.run ? 4 << 10 : 8 << 10; }
    bool by_words() const { return unit < 4 && c.run < kVectorBytes; }
    std::int64_t pieces() const { return up(runs, runs_of_block); }
    std::int64_t blocks() const { return lines * pieces(); }

    // `touched`: bytes of the pieces of 64 bytes that hold the source.
    counts count(double touched) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        counts n = counts_of_memory(c, touched, fetched_bytes(c, kFarWindow));
        n.line = f(c.run * std::min(runs, runs_of_block));
        n.span = f(c.run);
        n.blocks = f(blocks());
        n.resident = resident_threads_of_packed(by_words()) / kMostThreads;
        const double warps = n.written / kVectorBytes / kWarp;
        n.instructions[by_words() ? 1 : 0] = warps;
        n.instructions[2] = n.blocks * kMostThreads / kWarp;
        n.instructions[3] = n.instructions[2] * c.rank;
        // Lines of the L1 that a warp reads from at once, for each word.
        constexpr int kLine = 128;
        const double runs_at_once = std::max(1.0, kWarp * kVectorBytes / f(c.run));
        const double lines_at_once = 1 + runs_at_once * f(std::min<std::int64_t>(std::abs(step), kLine)) / kLine;
        n.wavefronts[0] = warps * kVectorBytes / std::max(unit, 4) * std::min<double>(kWarp, lines_at_once);
        n.waits[0] = 1;
        return n;
    }

    void fill(plan& p) const {
        packed_work& w = p.packed;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.first = reinterpret_cast<const unsigned char*>(c.source_begin());
        w.last = reinterpret_cast<const unsigned char*>(c.source_end());
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.runs = runs;
        w.run = static_cast<int>(c.run);
        w.step = static_cast<int>(step);
        w.runs_of_block = static_cast<int>(runs_of_block);
        const int runs_before = up(kSector, w.run);
        w.before = runs_before * w.run;
        w.source_before = runs_before * w.step;
        w.by_run = divider(static_cast<unsigned>(c.run));
        w.by_pieces = divider(static_cast<unsigned>(pieces()));
        add_axes(c, 1, w.lines);
        p.unit = unit;
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::moves
