// The counts of a tile.
#include <algorithm>
#include <bit>

#include "move/machine.hpp"
#include "move/tile_cut.hpp"

namespace cornerturn::moves {
namespace {

// The logarithm of how many of a line's vectors are dealt out at a time (see `deal` in tile.hpp).
int deal(std::int64_t items, int most_log) {
    const int all = std::countr_zero(std::bit_ceil(static_cast<std::uint64_t>(items)));
    return std::min(most_log, items <= 8 || 4 * items >= std::int64_t{3} << all ? all : all - 1);
}

double real(std::int64_t x) { return static_cast<double>(x); }

}  // namespace

// Rounds of warps for `items` items of each of `count` lines. A thread takes the same item of several lines.
double tile_cut::rounds_of(std::int64_t items, std::int64_t count, int most_log) const {
    double rounds = 0;
    while (items > 0) {
        const std::int64_t lanes = std::int64_t{1} << deal(items, most_log);
        rounds += real(up<std::int64_t>(count * lanes, threads()) * (threads() / kWarp));
        items -= lanes;
    }
    return rounds;
}

counts tile_cut::count(double touched, const gpu& on) const {
    counts n;
    const double written = real(u.c.bytes()), all = real(u.c.source_bytes()), of_unit = u.unit, ratio = u.ratio;
    // Tiles, spans and lines of the whole copy. The order of the blocks: along, across, then the other axes.
    double all_spans = 1, all_lines = 1, repeats = 1, mean_span = u.source_unit * ratio, mean_line = of_unit,
           nearest_span = 0;
    for (int i = 0; i < u.rank; ++i) {
        const double extent = real(ax(i).extent), cuts = real(up(ax(i).extent, step(i)));
        const double distance = real(ax(i).distance) * ratio;
        if (ax(i).repeats()) repeats *= extent;
        if (span_has(i)) {
            all_spans *= cuts;
            mean_span += (extent / cuts - 1) * distance;
        } else {
            all_spans *= extent + (i == along ? real(halo) * (cuts - 1) : 0);
            if (step(i) > 1 && (nearest_span == 0 || distance < nearest_span)) nearest_span = distance;
        }
        all_lines *= line_has(i) ? cuts : extent;
        if (line_has(i)) mean_line *= extent / cuts;
    }
    if (along >= 0 && span_has(along))
        mean_span += real(halo) * real(ax(along).distance) * ratio * (1 - 1 / real(up(ax(along).extent, step(along))));
    const double aligned_to = std::min<double>(kFetched, real(span_alignment) * ratio);
    const bool whole_pieces = aligned_to == kFetched && static_cast<std::int64_t>(mean_span) % kFetched == 0;
    double piece =
        kFetched * (whole_pieces ? mean_span / kFetched
                                 : std::max(1.0, (mean_span - std::min(aligned_to, mean_span)) / kFetched + 1));
    if (nearest_span > 0) piece = std::min(piece, nearest_span);  // spans nearer than a piece share it
    const double fetched = all_spans * piece;
    n.written = written;
    n.line = mean_line;
    n.span = mean_span;
    n.read = std::min(all / repeats, fetched);
    n.again = repeats > 1 ? std::max(0.0, std::min(fetched, all) - n.read) : 0;
    n.waste = std::max(0.0, touched - all / repeats);
    n.over = std::max(0.0, fetched - all / repeats - n.again - n.waste);
    // How far apart in time the blocks are that share a piece of the source, a repeated element, or a sector.
    double between = 1, nearest = 0, line_bytes = of_unit;
    bool line_found = along >= 0 && line_has(along) && step(along) < ax(along).extent;
    if (line_found) n.parts_apart = 1;
    for (int i = 0; i < u.rank; ++i) line_bytes *= line_has(i) ? real(ax(i).extent) : 1;
    const auto visit = [&](int i) {
        const double cuts = real(up(ax(i).extent, step(i)));
        if (cuts == 1) return;
        if (ax(i).repeats()) {
            n.again_apart = between;
        } else if ((ax(i).distance * (span_has(i) ? step(i) : 1) - span) * u.ratio <= kFetched &&
                   (nearest == 0 || real(ax(i).distance) < nearest)) {
            nearest = real(ax(i).distance);
            n.over_apart = between;
        }
        if (!line_found && !line_has(i) && real(ax(i).destination) == line_bytes) {
            n.parts_apart = between;
            line_found = true;
        }
        between *= cuts;
    };
    if (along >= 0) visit(along);
    if (across >= 0) visit(across);
    for (int i = 0; i < u.rank; ++i) {
        if (i != along && i != across) visit(i);
    }
    for (double* apart : {&n.over_apart, &n.again_apart, &n.parts_apart}) *apart *= 2 * real(area);

    const double along_cuts = along >= 0 ? real(up(ax(along).extent, step(along))) : 1;
    const piece_without_gaps without(u.c);
    const bool ends_at_gap = without.next < u.c.rank && line == without.bytes;
    if (!u.gaps && line_alignment < kSector && !ends_at_gap) n.parts = all_lines / (halo > 0 ? along_cuts : 1);
    n.gaps = bytes_cut_by_gaps(u.c);
    n.hot = fetched / kSector / std::clamp(all / repeats / 128, 1.0, 96.0);

    // ---- Multiprocessors
    const double blocks = real(tiles), warps = threads() / 32.0,
                 fill = written / of_unit * u.wide / (real(area) * blocks);
    const int scaled = u.factor_axis;
    // Whether the kernel is that for scales along a line: see pairs_from in kernels/convert.hpp.
    const bool along =
        u.converts_at_store && (u.unit <= u.source_unit || (scaled >= 0 && line_has(scaled) && step(scaled) > 1));
    const int resident_threads = group >= 0       ? kResidentThreadsOfGroups
                                 : u.c.converts() ? resident_threads_of_conversions(u.unit, along)
                                                  : resident_threads_of_tiles(u.unit);
    n.blocks = blocks;
    n.resident = real(std::max<std::int64_t>(
        1, std::min<std::int64_t>({on.shared_bytes / (shared() + 1024), resident_threads / threads(), 32})));
    const double of_table = blocks * real(table) / kWarp;
    n.instructions[0] = blocks * warps;
    n.instructions[1] = blocks * warps * u.rank;
    n.instructions[2] = of_table * (1 + 0.3 * copies());
    n.instructions[3] = all_spans * (mean_span / kVectorBytes + 0.5) / kWarp;
    double rounds, each_round = 1;
    n.groups = group >= 0;
    if (n.groups) {
        const int units = 4 / u.unit, loaded = aligned ? units : 2 * units;
        rounds = rounds_of((line + (aligned ? 3 : 6)) / 4, lines_listed() * groups_along(),
                           std::countr_zero(static_cast<unsigned>(threads())));
        const double lines_of_group = real(step(group)) / real(groups_along());
        n.instructions[4] = rounds * blocks * fill;
        n.instructions[5] = n.instructions[4] * lines_of_group;
        n.instructions[6] = n.instructions[4] * loaded;
        n.instructions[10] = shifted ? n.instructions[6] : 0;
        each_round = loaded * (shifted ? 2 : 1);
    } else {
        const std::int64_t vectors = halo > 0 ? up<std::int64_t>(line, kVectorBytes) : vectors_of_line();
        const int lanes = 1 << lanes_log();
        const bool reused = keeps_places();
        rounds = reused ? rounds_of(vectors, lines, lanes_log())
                        : real(up<std::int64_t>(vectors, lanes)) * (threads() / kWarp);
        // Equal lines that begin alike are gathered only once.
        const bool same = reused && repeated() && ax(across).destination % kSector == 0 && rank_of(in_line) == 1;
        if (same) each_round = 0.2;
        const double of_all = rounds * blocks * fill;
        if (u.gaps) {
            n.instructions[10] = of_all;
        } else {
            n.instructions[4] = of_all * (same ? 0.4 : 1);
            n.instructions[5] = reused && !same && begins_differ() ? of_all : 0;
            n.instructions[6] = reused ? 0 : of_all;
            if (!whole_lines()) {
                const double with_ends = halo > 0 ? std::min(2.0, along_cuts) / along_cuts : 1;
                n.instructions[7] = all_lines * with_ends * 2 * (kVectorBytes / of_unit) / kWarp;
            }
        }
    }
    n.instructions[8] = all_lines;
    n.instructions[9] = all_spans;
    n.wavefronts[0] = rounds * blocks * fill * each_round;
    n.wavefronts[1] = n.wavefronts[0] * (conflicts - 1);
    n.wavefronts[2] = all_spans * (mean_span / 128 + 1);
    n.waits[0] = 1;
    n.waits[1] = real(spans * chunks) / threads() * ratio;
    n.waits[2] = rounds / warps;
    n.waits[3] = real(table) / threads();
    return n;
}

// Whether a thread's next line begins at another place in a sector, so that it looks up its vectors' positions again.
bool tile_cut::begins_differ() const {
    const std::int64_t at_once = std::max(1, threads() >> lanes_log());
    int rows = 0;
    bool differ = false;
    for (int i = 0; i < u.rank; ++i) {
        if (step(i) == 1 || line_has(i)) continue;
        ++rows;
        differ = differ || ax(i).destination % kSector != 0;
    }
    if (rows == 1) {
        for (int i = 0; i < u.rank; ++i) {
            if (step(i) > 1 && !line_has(i)) differ = ax(i).destination * at_once % kSector != 0;
        }
    }
    return differ;
}

double tile_cut::cost(double touched, const gpu& on) const {
    const int units = std::countr_zero(static_cast<unsigned>(u.unit));
    const counts n = count(touched, on);
    const cost_constants& k = u.converts_at_store ? kConvertedTilesCost
                              : u.c.converts()    ? (n.groups ? kLoadedGroupsCost : kLoadedTilesCost)
                                                  : (n.groups ? kGroupsCost : kTilesCost);
    return cost_of(n, k, units, on);
}

}  // namespace cornerturn::moves
