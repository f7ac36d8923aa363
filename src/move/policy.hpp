// Which kernel moves a copy of strided axes, and how. Every kernel family says what it would cost; the cheapest way is
// taken (family.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/matrix_work.hpp"
#include "core/strided.hpp"
#include "move/converted_pairs.hpp"
#include "move/kernels/work.hpp"

namespace cornerturn::moves {

enum class kernel_family {
    nothing,            // there is nothing to move
    rows,               // runs that are contiguous on both sides
    packed,             // short runs that follow each other in the destination
    units,              // units one by one, in the destination's order
    tiles,              // tiles through shared memory, cut out of any axes
    direct,             // from here on, transposes of matrices. A small one, through registers alone
    vector,             // tiles, 16-byte accesses on both sides
    vector_apart,       // the same, with blocks at two positions in each row at a time
    ragged,             // tiles, any alignment
    tall,               // a few columns: the source is read in order
    wide,               // a few rows: the destination is written in order
    small,              // a batch of small packed matrices
    elements,           // tiles, elements of any size
    vector_in_place,    // swaps pairs of tiles, 16-byte accesses
    elements_in_place,  // the same, for any element and alignment
    blocks_in_place,    // swaps large elements one by one
};
inline constexpr int kFamilies = static_cast<int>(kernel_family::blocks_in_place) + 1;
const char* name(kernel_family f);

// A way to move a copy, before the details are worked out.
struct candidate {
    kernel_family by = kernel_family::nothing;
    int row = 0;        // of its family's table
    double cost = 0;    // predicted microseconds
    bool final = true;  // whether the cost includes all that takes long to count
};

// A way worked out for certain addresses, ready to launch.
struct plan {
    kernel_family by = kernel_family::nothing;
    int unit = 0;                           // bytes that are moved at once
    bool gaps = false, groups = false;      // for tiles
    bool shifted = false, aligned = false;  // for groups and for units that are converted: see kernels.hpp
    int relative_alignment = 0;             // for rows
    int units = 0, each = 0;  // for pieces: units in one; pieces that a thread moves, 1 or kPiecesOfThread
    unsigned blocks = 0;
    int threads = 0, shared_bytes = 0;
    bool keeps_result = false;  // in the L2, if the caller lets lines be kept; not for matrices
    element_cast types;         // if elements are converted
    cast_work cast;
    int pair = -1;         // see converted_pairs.hpp
    bool at_load = false;  // for tiles: their elements are converted when they are loaded
    rows_work rows;
    packed_work packed;
    units_work pieces;
    tile_work tiles;
    int row = 0;  // for matrices: of the family's table
    matrices_work matrices;
    gpu on;
};

// A plan depends on addresses only modulo this. Tiles divide a conversion's addresses of the source by the ratio of the
// sizes.
inline constexpr std::uintptr_t kAlignmentPeriod = 64, kSourceAlignmentPeriod = kAlignmentPeriod * most_ratio();

// All ways, the one that is chosen first and then in order of predicted cost. Different rows may come to the same way:
// they are here once. The copy must have at most kMostRuns runs unless it is in place.
std::vector<candidate> candidates(const strided_copy& c, const gpu& on);
// The way that was measured to be the best (policy_measured.hpp), else the cheapest.
candidate choose(const strided_copy& c, const gpu& on);
plan work_out(const candidate& chosen, const strided_copy& c, const gpu& on);

inline constexpr std::int64_t kMostRuns = 0x7fffffff;

// Whether the source and the destination are the same memory: square matrices, which are transposed in place.
inline bool is_in_place(const strided_copy& c) { return c.source == c.destination && !c.converts(); }

// Calls move(part) for parts of at most kMostRuns runs each, or elements of a conversion. What is in place stays whole.
template <class Move>
void for_each_part(const strided_copy& c, Move move) {
    if (c.is_empty()) return;
    const std::int64_t in_run = c.converts() ? c.run / c.unit() : 1;
    if (c.runs() <= kMostRuns / in_run || is_in_place(c)) return move(c);
    strided_copy part = c;
    if (c.rank == 0) {  // one run of more elements
        constexpr std::int64_t kMost = 1 << 30;
        for (std::int64_t first = 0; first < in_run; first += kMost) {
            part.source = c.source + static_cast<std::uintptr_t>(first * c.source_unit());
            part.destination = c.destination + static_cast<std::uintptr_t>(first * c.unit());
            part.run = std::min(kMost, in_run - first) * c.unit();
            move(part);
        }
        return;
    }
    strided_axis& last = part.axes[static_cast<std::size_t>(c.rank - 1)];
    const std::int64_t inner = c.runs() / last.extent * in_run, fit = kMostRuns / inner;
    const std::int64_t most = fit > 32 ? fit / 32 * 32 : fit > 0 ? fit : 1;  // parts are as aligned as the whole
    const std::int64_t extent = last.extent;
    for (std::int64_t first = 0; first < extent; first += most) {
        part.rank = c.rank;
        last.extent = extent - first < most ? extent - first : most;
        part.source = c.source + static_cast<std::uintptr_t>(first * last.source);
        part.destination = c.destination + static_cast<std::uintptr_t>(first * last.destination);
        part.by.first = c.by.first + first * last.factor;
        if (last.extent == 1) --part.rank;
        for_each_part(part, move);
    }
}

// What the cost of a candidate is predicted from, as numbers: for bench/fit_moves.py. The first three are the family,
// the row of its table (kGroupsRow for tiles by groups of lines) and the unit. Families that convert count from
// kConvertedFrom, and tiles that convert when they are loaded from kLoadedFrom.
inline constexpr int kGroupsRow = 1000, kConvertedFrom = 100, kLoadedFrom = 200;
std::vector<double> counts_of(const candidate& c, const strided_copy& of, const gpu& on);

// One line: the kernel family, and how the copy is cut.
std::string text_of(const candidate& chosen, const strided_copy& c, const gpu& on);
// The same, and the predicted cost.
std::string explain(const candidate& chosen, const strided_copy& c, const gpu& on);

// What is chosen for a copy of any number of runs, which may take several launches.
struct explanation_of_parts {
    int parts = 0;
    double cost = 0;   // predicted microseconds of all parts
    std::string text;  // one line: the first part's way, the next two, and if there are more parts, their number
};
explanation_of_parts explain_parts(const strided_copy& c, const gpu& on);
inline std::string explain(const strided_copy& c, const gpu& on) { return explain_parts(c, on).text; }

// The plan of what is chosen. Each thread remembers its latest plans and reuses them for addresses of the same
// alignment. A choice takes microseconds, and a look-up a tenth of one. Valid until the thread's next call.
const plan& plan_for(const strided_copy& c, const gpu& on);

// Calls run(plan) for each launch of the copy.
template <class Run>
void for_each_plan(const strided_copy& c, const gpu& on, Run run) {
    for_each_part(c, [&](const strided_copy& part) { run(plan_for(part, on)); });
}

// Launches on device::current_stream() and returns at once. The addresses were checked before. Throws cuda_error if
// CUDA refuses a launch.
void run_on_gpu(const plan& p);
void run_on_gpu(const strided_copy& c, const gpu& on);
// The same in the emulator.
void run_emulated(const plan& p);
void run_emulated(const strided_copy& c, const gpu& on);

}  // namespace cornerturn::moves
