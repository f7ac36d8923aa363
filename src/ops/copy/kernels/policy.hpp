// Which kernel does a strided copy, how the copy is cut, and its predicted cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "ops/copy/kernels/kernel_arguments.hpp"

namespace cornerturn::strided {

enum class kernel_family { nothing, rows, units, tiles };

// What is wanted of a tile, in bytes.
struct tile_target {
    int line;             // of a line, at least
    int area;             // of the whole tile, approximately
    bool groups = false;  // end lines where groups of lines can move them (kernel_arguments.hpp)
};

// A kernel family for a copy, before the details are worked out.
struct choice {
    kernel_family by = kernel_family::nothing;
    tile_target target{};
    double cost = 0;  // predicted microseconds
};

// A choice worked out for certain addresses, ready to launch.
struct plan {
    kernel_family by = kernel_family::nothing;
    int unit = 0;                           // bytes that are moved at once
    bool gaps = false, groups = false;      // for tiles
    bool shifted = false, aligned = false;  // for groups: see kernels.hpp
    int relative_alignment = 0;             // for rows
    int units = 0, each = 0;  // for pieces: units in one; pieces that a thread moves, 1 or kPiecesOfThread
    unsigned blocks = 0;
    int threads = 0, shared_bytes = 0;
    rows_work rows;
    units_work pieces;
    tile_work tiles;
};

// All choices, in order of predicted cost. The copy has at most kMostRuns runs.
std::vector<choice> choices(const strided_copy& c, const gpu& on);
choice choose(const strided_copy& c, const gpu& on);
plan work_out(const choice& chosen, const strided_copy& c, const gpu& on);

inline constexpr std::int64_t kMostRuns = 0x7fffffff;

// Calls move(part) for parts of at most kMostRuns runs each.
template <class Move>
void for_each_part(const strided_copy& c, Move move) {
    if (c.is_empty()) return;
    if (c.runs() <= kMostRuns) return move(c);
    strided_copy part = c;
    strided_axis& last = part.axes[static_cast<std::size_t>(c.rank - 1)];
    const std::int64_t inner = c.runs() / last.extent, fit = kMostRuns / inner;
    const std::int64_t most = fit > 32 ? fit / 32 * 32 : fit > 0 ? fit : 1;  // parts are as aligned as the whole
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

// One line: the kernel family, its cut, and the predicted cost.
std::string explain(const choice& chosen, const strided_copy& c, const gpu& on);

// What is chosen for any number of runs, which may take several launches.
struct choice_of_parts {
    int parts = 0;
    double cost = 0;        // predicted microseconds of all parts
    std::string text = {};  // the first part's line; if there are more parts, also their number and total cost
};
choice_of_parts choose_parts(const strided_copy& c, const gpu& on);
inline std::string explain(const strided_copy& c, const gpu& on) { return choose_parts(c, on).text; }

// The plan of what is chosen. Each thread remembers its latest plans and reuses them for addresses of the same
// alignment. A choice takes microseconds, and a look-up a tenth of one. Valid until the thread's next call.
const plan& plan_for(const strided_copy& c, const gpu& on);

// Calls run(plan) for each launch of the copy.
template <class Run>
void for_each_plan(const strided_copy& c, const gpu& on, Run run) {
    for_each_part(c, [&](const strided_copy& part) { run(plan_for(part, on)); });
}

// Launches on device::current_stream() and returns at once. The addresses were checked before.
void run_on_gpu(const plan& p);
// The same in the emulator.
void run_emulated(const plan& p);

}  // namespace cornerturn::strided
