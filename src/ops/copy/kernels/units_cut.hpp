// How a strided copy is dealt out unit by unit, and what that is predicted to cost: see works.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "ops/copy/kernels/cuts.hpp"

namespace cornerturn::strided {

// Units, one or several a thread.
struct units_cut {
    const strided_copy& c;
    int unit;
    std::int64_t units;

    explicit units_cut(const strided_copy& copy) : c(copy), unit(copy.unit()), units(copy.runs() * (copy.run / unit)) {}

    // Narrower ones take too many instructions.
    bool possible() const { return unit >= 2 && units <= kMostRuns; }
    int each() const {
        constexpr std::int64_t kFew = 2 << 20;
        return units <= kFew ? 1 : kUnitsOfThread;
    }
    std::int64_t blocks() const { return up<std::int64_t>(units, each() * kMostThreads); }
    int rank() const { return c.rank + (c.run > unit ? 1 : 0); }

    // Memory is read in pieces of two sectors, each once for runs that are near each other in the destination, and
    // again for others.
    double cost(const gpu& on) const {
        const auto f = [](std::int64_t x) { return static_cast<double>(x); };
        std::uint64_t from = c.source, to = c.destination;
        for (int i = 0; i < c.rank; ++i) {
            from |= bits(c.axes[static_cast<std::size_t>(i)].source);
            to |= bits(c.axes[static_cast<std::size_t>(i)].destination);
        }
        const auto touched = [&](std::uint64_t at, std::int64_t length, std::int64_t piece) {
            return (f(length - std::min(alignment(at, static_cast<std::uint64_t>(piece)), length)) / f(piece) + 1) *
                   f(piece);
        };
        std::int64_t line = c.run;
        for (int i = 0; i < c.rank && c.axes[static_cast<std::size_t>(i)].destination == line; ++i)
            line *= c.axes[static_cast<std::size_t>(i)].extent;
        std::int64_t length = c.run, pieces = c.runs();
        constexpr std::int64_t kNear = 4 << 20;  // bytes
        for (int i = 0; i < c.rank && c.bytes() / pieces < kNear; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            if (std::abs(a.source) > length + 2 * kSector) break;
            length += (a.extent - 1) * std::abs(a.source);
            pieces /= a.extent;
        }
        const double read = f(pieces) * touched(from, length, 2 * kSector);
        const double lines = f(c.bytes() / line);
        const double parts = std::max(0.0, lines * touched(to, line, kSector) - f(c.bytes()));
        const double bytes = f(c.bytes()) + read + kPart / 2 * parts;
        const double instructions = f(units) / kWarp * (kOfDirect + kOfDirectAxis * rank());
        const double memory = bytes / bytes_per_us(c, on), issue = instructions / kInstructionsPerUs;
        return (each() == 1 ? kLaunchOfFewUs : kLaunchUs) + norm(memory, issue, 0) / on.multiprocessors;
    }

    void fill(plan& p) const {
        units_work& w = p.units;
        w = {};
        w.source = reinterpret_cast<const unsigned char*>(c.source);
        w.destination = reinterpret_cast<unsigned char*>(c.destination);
        w.units = static_cast<unsigned>(units);
        if (c.run > unit)
            w.of_units.axes[w.of_units.rank++] = {divider(static_cast<unsigned>(c.run / unit)), unit, unit};
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            w.of_units.axes[w.of_units.rank++] = {divider(static_cast<unsigned>(a.extent)), a.source, a.destination};
        }
        p.threads = kMostThreads;
        p.shared_bytes = 0;
        p.each = each();
        p.blocks = static_cast<unsigned>(blocks());
    }
};

}  // namespace cornerturn::strided
