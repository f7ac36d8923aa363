// Which kernel does which strided copy, how it is cut, and what that is predicted to cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "ops/copy/kernels/works.hpp"

namespace cornerturn::strided {

enum class way { nothing, rows, units, tiles };

// What a tile is asked to be, in bytes.
struct tile_wish {
    int line;             // of a line, at least
    int area;             // of the whole, about
    bool groups = false;  // lines end where they can be moved by groups (works.hpp)
};

// One way to do a copy, told by what it is, and not yet worked out.
struct choice {
    way by = way::nothing;
    tile_wish wish{};
    double cost = 0;  // predicted microseconds
};

// A choice, worked out for certain addresses: what is launched.
struct plan {
    way by = way::nothing;
    int unit = 0;                           // bytes that are moved at once
    bool gaps = false, groups = false;      // of tiles
    bool shifted = false, aligned = false;  // of groups: see kernels.hpp
    int apart = 0;                          // of rows
    int units = 0, each = 0;                // of pieces: units of one; how many a thread moves, 1 or kPiecesOfThread
    unsigned blocks = 0;
    int threads = 0, shared_bytes = 0;
    rows_work rows;
    units_work pieces;
    tile_work tiles;
};

// All ways to do it, the one of the lowest predicted cost first. The copy has at most kMostRuns runs.
std::vector<choice> choices(const strided_copy& c, const gpu& on);
choice choose(const strided_copy& c, const gpu& on);
plan work_out(const choice& chosen, const strided_copy& c, const gpu& on);

inline constexpr std::int64_t kMostRuns = 0x7fffffff;

// Calls move(part) for parts that have at most kMostRuns runs each.
template <class Move>
void for_each_part(const strided_copy& c, Move move) {
    if (c.is_empty()) return;
    if (c.runs() <= kMostRuns) return move(c);
    strided_copy part = c;
    strided_axis& last = part.axes[static_cast<std::size_t>(c.rank - 1)];
    const std::int64_t inner = c.runs() / last.extent, fit = kMostRuns / inner;
    const std::int64_t most = fit > 32 ? fit / 32 * 32 : fit > 0 ? fit : 1;  // parts begin as aligned as the whole
    const std::int64_t extent = last.extent;
    for (std::int64_t first = 0; first < extent; first += most) {
        part.rank = c.rank;
        last.extent = extent - first < most ? extent - first : most;
        part.source = c.source + static_cast<std::uintptr_t>(first * last.source);
        part.destination = c.destination + static_cast<std::uintptr_t>(first * last.destination);
        if (last.extent == 1) --part.rank;
        for_each_part(part, move);
    }
}

// In a line: the way, its cut, and the predicted cost.
std::string explain(const choice& chosen, const strided_copy& c, const gpu& on);

// What is chosen for any number of runs, in so many launches.
struct choice_of_parts {
    int parts = 0;
    double cost = 0;        // predicted microseconds of all parts
    std::string text = {};  // the first part's line; where there are more, also how many, and what all of them cost
};
choice_of_parts choose_parts(const strided_copy& c, const gpu& on);
inline std::string explain(const strided_copy& c, const gpu& on) { return choose_parts(c, on).text; }

// The plan of what is chosen. Each thread remembers its latest plans, and takes them for addresses that are aligned
// alike: choosing takes microseconds, remembering a tenth of one. Valid until the thread's next call.
const plan& plan_for(const strided_copy& c, const gpu& on);

// Calls run(plan) for each launch that the copy takes.
template <class Run>
void for_each_plan(const strided_copy& c, const gpu& on, Run run) {
    for_each_part(c, [&](const strided_copy& part) { run(plan_for(part, on)); });
}

// Launches on device::current_stream() and returns at once. Addresses have been checked.
void run_on_gpu(const plan& p);
// The same in the emulator.
void run_emulated(const plan& p);

}  // namespace cornerturn::strided
