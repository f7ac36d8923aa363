// The predicted cost of a tile.
#include <algorithm>
#include <bit>

#include "ops/copy/kernels/tile_cut.hpp"

namespace cornerturn::strided {
namespace {

// The logarithm of how many of a line's vectors are dealt out at a time (see `deal` in tile.hpp).
int deal(std::int64_t items, int most_log) {
    const int all = std::countr_zero(std::bit_ceil(static_cast<std::uint64_t>(items)));
    return std::min(most_log, items <= 8 || 4 * items >= std::int64_t{3} << all ? all : all - 1);
}

}  // namespace

// Rounds of warps for `items` items of each of `count` lines. A thread takes the same item of several lines.
double tile_cut::rounds_of(std::int64_t items, std::int64_t count, int most_log) const {
    double rounds = 0;
    while (items > 0) {
        const std::int64_t lanes = std::int64_t{1} << deal(items, most_log);
        rounds += static_cast<double>(up<std::int64_t>(count * lanes, threads()) * (threads() / kWarp));
        items -= lanes;
    }
    return rounds;
}
tile_cut::warp_work tile_cut::work_of_lines(double along_tiles) const {
    const int per_vector = kVector / u.unit, lanes = 1 << lanes_log();
    const std::int64_t vectors = halo > 0 ? up<std::int64_t>(line, kVector) : vectors_of_line();
    const bool reused = keeps_places();
    const double rounds = reused ? rounds_of(vectors, lines, lanes_log())
                                 : static_cast<double>(up<std::int64_t>(vectors, lanes) * (threads() / kWarp));
    const double looked = kLooked + (kOfLooked + (copies() == 1 ? kOfSingleLook : 0)) * per_vector;
    const double gather = u.gaps ? kOfGap : reused ? kReused + kOfUnits * per_vector : looked;
    const double ends = u.gaps || whole_lines()
                            ? 0
                            : static_cast<double>(lines) / (kSector / u.unit) * kOfEnd / (halo > 0 ? along_tiles : 1);
    // Equal lines that begin alike are gathered only once.
    const bool same = reused && repeated() && ax(across).destination % kSector == 0 && rank_of(in_line) == 1;
    const double gathered = same ? static_cast<double>(threads() / lanes) / static_cast<double>(lines) : 1;
    return {rounds * (same ? kOfCopy + gathered * gather : gather) + ends,
            rounds * gathered * (std::max(4, per_vector) * conflicts + 4 + (reused ? 0 : per_vector))};
}
tile_cut::warp_work tile_cut::work_of_groups() const {
    const int units = 4 / u.unit, loaded = aligned ? units : 2 * units;
    const std::int64_t count = lines_listed() * groups_along();
    const double rounds =
        rounds_of((line + (aligned ? 3 : 6)) / 4, count, std::countr_zero(static_cast<unsigned>(threads())));
    const double lines_of_group = static_cast<double>(step(group)) / static_cast<double>(groups_along());
    return {rounds * (kOfGroup + loaded * (shifted ? kOfShifted : kOfVector) +
                      lines_of_group * (aligned ? kOfAlignedWord : kOfWord)),
            rounds * (loaded * (shifted ? 8 : 4) * conflicts + 2 * lines_of_group)};
}

// Predicted microseconds. Three things bound a multiprocessor: the bytes of memory, the instructions that it issues,
// and the time that a block waits. Other blocks that fit beside it fill this time.
double tile_cut::cost(const gpu& on) const {
    const auto f = [](std::int64_t x) { return static_cast<double>(x); };
    const double useful = f(area);
    const double touched =
        f(spans) * (f(span - std::min<std::int64_t>(span_alignment, span)) / kFetched + 1) * kFetched;
    const double read = std::min(touched, useful), over = touched - read;  // fewer bytes if the source is repeated
    // Sectors that lines share with lines of other tiles. There are none where lines are cut at sectors, or where an
    // axis ends at a gap.
    const double along_tiles = along >= 0 ? f(up(ax(along).extent, step(along))) : 1;
    const double gap_parts = bytes_cut_by_gaps(u.c) * useful / f(u.c.bytes());
    const piece_without_gaps piece(u.c);
    const bool ends_at_gap = piece.next < u.c.rank && line == piece.bytes;
    const bool shares = !u.gaps && line_alignment < kSector && !ends_at_gap;
    const double parts = shares ? f(lines) * kSector / (halo > 0 ? along_tiles : 1) : 0;
    const double short_pieces = useful * (kShortLine / f(line + kSector) + kShortSpan / f(span + kSector));
    const double bytes = useful + read + kOverread * over + kPart * parts + kGapPart * gap_parts + short_pieces;

    const double warps = threads() / 32.0;
    const double before = warps * (kSetup + kSetupOfAxis * u.rank) + f(table) / 32 * (40 + 12 * copies()) +
                          f(spans * chunks) / 32 * kOfChunk;
    const auto [instructions, wavefronts] = group >= 0 ? work_of_groups() : work_of_lines(along_tiles);

    const int resident_threads = group >= 0    ? kResidentThreadsOfGroups
                                 : u.unit == 1 ? kResidentBytes
                                               : kResidentThreads;
    const std::int64_t resident = std::max<std::int64_t>(
        1, std::min<std::int64_t>({on.shared_bytes / (shared() + 1024), resident_threads / threads(), 32}));
    const double memory = bytes / bytes_per_us(u.c, on), issue = (before + instructions) / kInstructionsPerUs;
    const double of_spans = f(spans * chunks) / (128 / kVector) + kOfSpan * f(spans) * (f(span) / 128 + 1);
    const double of_shared = (wavefronts + of_spans) / kWavefrontsPerUs;
    const double alone = kWait + kWaitOfVector * useful / kVector / threads() + kAlone * (memory + issue + of_shared);
    const double each = norm(memory, norm(issue, of_shared, 0), alone / f(resident));
    const std::int64_t at_once = on.multiprocessors * resident, waves = up(tiles, at_once);
    const double tail = waves < 9 ? 1 + kTail * (f(waves * at_once) / f(tiles) - 1) : 1;
    return kLaunchUs + kFirst * alone + each * f(tiles) / on.multiprocessors * tail;
}

}  // namespace cornerturn::strided
