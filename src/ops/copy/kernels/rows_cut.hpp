// How runs of a strided copy are assigned to blocks, and the predicted cost: see kernel_arguments.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "ops/copy/kernels/cuts.hpp"

namespace cornerturn::strided {

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
        relative_alignment = static_cast<int>(alignment(distance, kVector));
        alignment_of_run = alignment(to, kSector);
        const std::int64_t misaligned =
            alignment_of_run < kVector ? kVector - std::min<std::int64_t>(unit, kVector) : 0;
        vectors = up<std::int64_t>(c.run + misaligned, kVector);
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

    double cost(const gpu& on) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        const double of_run = f(pieces * vectors), whole = f(c.run) / kVector;
        const double items = f(rows) * of_run;
        const double move = relative_alignment >= 16  ? 4
                            : relative_alignment >= 8 ? 6
                            : relative_alignment >= 4 ? 10
                                                      : 24;
        const double ends = unit < kVector ? f(rows) / unit : 0;  // warps, with one unit for each thread
        const double instructions = items * (kRunOfAxis * c.rank + move) / 32 + ends * (kRunEnd + kRunOfAxis * c.rank);
        const double sectors = whole / 2 + (alignment_of_run < kSector ? 1 : 0);
        const double bytes =
            f(rows) * (2 * f(c.run) + (sectors * kSector - f(c.run)) * 0.8) + kGapPart * bytes_cut_by_gaps(c);
        const double memory = bytes / bytes_per_us(c, on), issue = instructions / kInstructionsPerUs;
        return kLaunchUs + (std::max(memory, issue) + 0.25 * std::min(memory, issue)) / on.multiprocessors;
    }

    void fill(plan& p, const gpu& on) const {
        rows_work& w = p.rows;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.first = reinterpret_cast<const unsigned char*>(c.source_begin());
        w.last = reinterpret_cast<const unsigned char*>(c.source_end());
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.run = c.run;
        w.keeps_result = keeps_result(c.run * rows, on.l2_bytes);
        w.rows = static_cast<unsigned>(rows);
        w.rows_of_block = static_cast<unsigned>(rows_of_block);
        w.vectors = static_cast<unsigned>(vectors);
        w.by_vectors = divider(w.vectors);
        w.by_pieces = divider(static_cast<unsigned>(pieces));
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            w.runs.axes[w.runs.rank++] = {divider(static_cast<unsigned>(a.extent)), a.source, a.destination};
        }
        p.relative_alignment = relative_alignment;
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::strided
