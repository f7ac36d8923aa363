// How a strided copy is cut into tiles, and the predicted cost: see kernels/work.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "move/converted_pairs.hpp"
#include "move/cost.hpp"
#include "move/cuts.hpp"

namespace cornerturn::moves {

// What is wanted of a tile, in bytes.
struct tile_target {
    int line;  // of a line, at least
    int area;  // of the whole tile, approximately: what shared memory holds, or the destination if that is larger
};

// The tiles to try. Lines of 256 bytes and more suit memory best. Shorter lines leave room for longer spans.
inline constexpr tile_target kTargets[] = {
    {64, 4 << 10},   {64, 8 << 10},   {64, 16 << 10},  {128, 16 << 10}, {256, 16 << 10},
    {512, 16 << 10}, {128, 32 << 10}, {256, 32 << 10}, {512, 32 << 10}, {1024, 32 << 10},
};
inline constexpr const tile_target& target_of(int row) { return kTargets[row]; }

// Whether a tile converts its elements when it loads them: if they do not become wider, and all elements of a span have
// the same scale and bias. So spans end before the axis along which these differ.
inline bool is_converted_at_load(const strided_copy& c) {
    const int pair = c.converts() ? pair_of(c.cast) : -1;
    if (pair < 0 || !converts_at_load(kConvertedPairs[pair])) return false;
    if (c.factor_axis() == c.rank) return true;
    const std::int64_t distance = std::abs(c.axes[static_cast<std::size_t>(c.factor_axis())].source);
    std::int64_t longest = c.run;  // that a span may be, in bytes of the destination
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        if (a.source != 0 && std::abs(a.source) < distance) longest *= a.extent;
    }
    return distance != 0 && longest >= kFetched;
}

struct axis {
    std::int64_t extent, source, destination, distance;  // distance: of the source's elements

    bool repeats() const { return source == 0; }
};

// A copy in units. A run of several units becomes an axis too.
//
// A conversion that happens when a tile is loaded is cut like a copy of the destination's elements: addresses and
// strides of the source are divided by the ratio of the sizes.
struct copy_of_units {
    const strided_copy& c;
    bool converts_at_load, converts_at_store;
    int unit, ratio, source_unit, wide;  // bytes on both sides, which differ for another conversion; and the larger
    std::uintptr_t source, first, last;  // divided; from `first` to `last` may be read
    int rank = 0;
    std::array<axis, kMostAxes + 1> axes;  // in the order of the destination's strides
    std::array<int, kMostAxes + 1> by_source;
    // True if the destination's pieces without gaps are short. A line then holds several pieces with the gaps between
    // them, and is written unit by unit.
    bool gaps;
    int factor_axis;  // of a conversion's scales and biases; -1: there is none

    explicit copy_of_units(const strided_copy& copy)
        : c(copy),
          converts_at_load(is_converted_at_load(copy)),
          converts_at_store(copy.converts() && !converts_at_load),
          unit(copy.unit()),
          ratio(converts_at_load ? copy.source_unit() / unit : 1),
          source_unit(copy.source_unit() / ratio),
          wide(std::max(unit, source_unit)),
          source(copy.source / static_cast<unsigned>(ratio)),
          first(copy.source_begin() / static_cast<unsigned>(ratio)),
          last(copy.source_end() / static_cast<unsigned>(ratio)) {
        if (c.run > unit) axes[static_cast<std::size_t>(rank++)] = {c.run / unit, source_unit, unit, source_unit};
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            axes[static_cast<std::size_t>(rank++)] = {a.extent, a.source / ratio, a.destination,
                                                      std::abs(a.source / ratio)};
        }
        for (int i = 0; i < rank; ++i) {
            int at = i;
            for (; at > 0 && farther(of_source(at - 1), axes[static_cast<std::size_t>(i)]); --at)
                by_source[static_cast<std::size_t>(at)] = by_source[static_cast<std::size_t>(at - 1)];
            by_source[static_cast<std::size_t>(at)] = i;
        }
        const int of_copy = c.factor_axis();
        factor_axis = of_copy == c.rank ? -1 : rank - c.rank + of_copy;
        const piece_without_gaps piece(c);
        const bool whole = piece.bytes % kVectorBytes == 0 && piece.begins % kVectorBytes == 0;
        gaps = piece.bytes < (unit > 1 || whole ? kLeastOfVectors : kLeastOfVectorsOfBytes) && piece.next < c.rank;
    }
    const axis& of_source(int i) const {
        return axes[static_cast<std::size_t>(by_source[static_cast<std::size_t>(i)])];
    }
    // In the order of the source's strides. Axes that repeat its elements come last.
    static bool farther(const axis& a, const axis& b) {
        return a.repeats() ? !b.repeats() : !b.repeats() && a.distance > b.distance;
    }
};

// How far an axis may step from a span of this length and still belong to it. What it skips is read too.
inline std::int64_t reach_of(std::int64_t span) { return span + std::max<std::int64_t>(kSector, span / 8); }

// A tile that is cut out of a copy.
struct tile_cut {
    const copy_of_units& u;
    std::array<std::int64_t, kMostAxes + 1> steps;
    std::array<bool, kMostAxes + 1> in_line{}, in_span{};
    int along = -1, across = -1;
    int group = -1;                         // with groups: the axis along which a group's lines follow each other
    bool shifted = false, aligned = false;  // with groups: see kernels.hpp
    std::int64_t area = 0;                  // bytes
    std::int64_t line = 0;                  // bytes of a whole line
    std::int64_t span = 0;                  // bytes of a whole tile's span with its halo
    std::int64_t spans = 1, lines = 1;
    std::int64_t halo = 0, tiles = 1;
    std::int64_t span_alignment = 1, line_alignment = 1;  // of where they begin; at most kFetched, and a sector
    std::int64_t chunks = 0, table = 0;                   // vectors in a span; units
    std::int64_t line_step = 1;                           // units in a line, without `along`
    std::int64_t pitch = 0;                               // from span to span in shared memory, in vectors
    int skew = kNoSkew;                                   // see kernels/work.hpp
    double conflicts = 1;  // wavefronts of a warp's load from shared memory, divided by the fewest possible
    bool possible = false;

    tile_cut(const copy_of_units& units, const tile_target& target, const gpu& on) : u(units) {
        steps.fill(1);
        cut(target);
        even_out();
        possible = assign() && measure(std::min<std::int64_t>(kMostShared, on.shared_bytes_of_block));
    }

    std::int64_t& step(int i) { return steps[static_cast<std::size_t>(i)]; }
    std::int64_t step(int i) const { return steps[static_cast<std::size_t>(i)]; }
    const axis& ax(int i) const { return u.axes[static_cast<std::size_t>(i)]; }
    bool line_has(int i) const { return in_line[static_cast<std::size_t>(i)]; }
    bool span_has(int i) const { return in_span[static_cast<std::size_t>(i)]; }

    // Takes axes of the destination until a line is as long as wished, then axes of the source until the tile is as
    // large as wished. If the source has no more, it takes more of the destination.
    void cut(const tile_target& target) {
        area = u.wide;
        grow_lines(target.line, target.line);
        std::int64_t length = u.source_unit, held = u.source_unit;  // of a span: all bytes, and the bytes of its units
        bool ended = false;
        for (int k = 0; k < u.rank; ++k) {
            const int i = u.by_source[static_cast<std::size_t>(k)];
            ended = ended || ends_span(i, length);
            if (ended && !ax(i).repeats()) continue;
            // Take as many steps as fit in the wished room with the spans and their gaps.
            const std::int64_t others = area / step(i), distance = std::max<std::int64_t>(ax(i).distance, 1);
            const std::int64_t wanted = std::min((target.area * held / others - length - kVectorBytes) / distance + 1,
                                                 std::max<std::int64_t>(1, 2 * target.area / others));
            // Only one axis can be cut. Prefer one that repeats long spans, which are then gathered once.
            if (wanted < ax(i).extent && !ax(i).repeats() && length >= kLongSpan && step(i) == 1 &&
                repeats_beside_lines())
                ended = true;
            if (ended && !ax(i).repeats()) continue;
            step(i) = std::max(step(i), std::min(ax(i).extent, wanted));
            area = others * step(i);
            length += (step(i) - 1) * ax(i).distance;
            held *= step(i);
            if (step(i) < ax(i).extent) break;
        }
        if (area < target.area) grow_lines(target.area, target.area);
    }
    // Whether an axis that repeats the source is not in a line yet.
    bool repeats_beside_lines() const {
        for (int i = 0; i < u.rank; ++i) {
            if (ax(i).repeats() && step(i) == 1) return true;
        }
        return false;
    }
    void grow_lines(std::int64_t length, std::int64_t most_area) {
        std::int64_t bytes = u.unit;
        for (int i = 0; i < u.rank && bytes < length; ++i) {
            if (!u.gaps && ax(i).destination != bytes) break;
            const std::int64_t others = area / step(i);
            const std::int64_t wanted = std::min(up(length, bytes), up(std::max(most_area, others), others));
            // A line that grows beyond the spans also grows the table.
            const std::int64_t room = std::max<std::int64_t>(1, kMostTable / 2 * u.unit / bytes);
            const std::int64_t near = u.gaps ? std::max<std::int64_t>(1, (1 << 25) / ax(i).destination) : wanted;
            const std::int64_t to = std::max(step(i), std::min({ax(i).extent, wanted, room, near}));
            area = others * to;
            step(i) = to;
            bytes *= to;
            if (to < ax(i).extent) break;
        }
    }
    // Whether a span of this length must end before this axis. Either the axis steps too far, or lines along it would
    // have all their units in the same banks.
    bool ends_span(int i, std::int64_t length) const {
        const axis& a = ax(i);
        if (u.converts_at_load && i == u.factor_axis) return true;
        if (a.distance > reach_of(length)) return true;
        return length > u.source_unit && a.distance >= kSector && a.destination < kVectorBytes &&
               a.extent * u.unit >= 128 && a.distance / u.source_unit % 2 == 0;
    }

    // Makes the tiles along an axis equally large, and of whole sectors if possible.
    void even_out() {
        area = u.wide;
        for (int i = 0; i < u.rank; ++i) {
            if (step(i) > 1 && step(i) < ax(i).extent) {
                step(i) = up(ax(i).extent, up(ax(i).extent, step(i)));
                std::int64_t whole = 1;
                for (const std::int64_t stride : {ax(i).source, ax(i).destination}) {
                    if (std::abs(stride) < kSector) whole = std::max(whole, kSector / alignment(bits(stride), kSector));
                }
                const std::int64_t rounded = up(step(i), whole) * whole;
                if (rounded <= step(i) + step(i) / 4) step(i) = std::min(ax(i).extent, rounded);
            }
            area *= step(i);
        }
    }

    // Whether lines of the axes up to this one are long and all begin at a sector. Lines that begin alike share one
    // look-up in the table; longer lines would need one for each vector.
    bool ends_well(int last) const {
        if (line < 128) return false;
        std::uint64_t all = u.c.destination;
        for (int i = last + 1; i < u.rank; ++i) {
            all |= bits(ax(i).destination);
            if (step(i) > 1 && !span_has(i)) return false;
            if (step(i) > 1 && step(i) < ax(i).extent && i != across) return false;
        }
        return alignment(all, kSector) == kSector;
    }

    // Whether lines should end before this axis because their table would be too long.
    bool ends_line(int i) const { return span_has(i) && line / u.unit + kVectorBytes / u.unit > kMostTable; }
    // Whether enough units follow each other along this axis, in a span, for a group of lines.
    bool heads_group(int i) const {
        return u.unit <= 2 && !u.gaps && !u.converts_at_store && ax(i).source == u.unit &&
               step(i) * u.unit >= kLeastOfGroup;
    }

    // Decides which axes are in lines and which are in spans. False if an axis is in neither.
    bool assign() {
        span = u.source_unit;
        bool ended = false;
        for (int k = 0; k < u.rank; ++k) {
            const int i = u.by_source[static_cast<std::size_t>(k)];
            ended = ended || ends_span(i, span) || step(i) == 1;
            // An axis that repeats a span takes no room in it.
            if (step(i) == 1 || (ended && !ax(i).repeats())) continue;
            in_span[static_cast<std::size_t>(i)] = true;
            span += (step(i) - 1) * ax(i).distance;
            if (step(i) < ax(i).extent && across < 0) across = i;
            ended = across >= 0;
        }
        line = u.unit;
        for (int i = 0; i < u.rank; ++i) {
            if ((!u.gaps && ax(i).destination != line) || step(i) == 1 || ends_line(i)) break;
            in_line[static_cast<std::size_t>(i)] = true;
            line *= step(i);
            along = i;
            if (step(i) < ax(i).extent || ends_well(i)) break;
        }
        if (across == along) across = -1;
        if (u.gaps && !offsets_fit()) return false;
        int counted[3] = {};
        for (int i = 0; i < u.rank; ++i) {
            tiles *= up(ax(i).extent, step(i));
            if (step(i) == 1) continue;
            if (!line_has(i) && !span_has(i)) return false;
            if (step(i) < ax(i).extent && i != along && i != across) return false;
            counted[0] += line_has(i);
            counted[1] += !line_has(i);
            counted[2] += !span_has(i);
            if (!line_has(i)) lines *= step(i);
            if (line_has(i) && i != along) line_step *= step(i);
        }
        return *std::max_element(counted, counted + 3) <= tile_work::kMost;
    }

    // Positions of units with gaps are stored in 32 bits, from the beginning of their line. Whether they fit.
    bool offsets_fit() const {
        std::int64_t reach = 0;
        for (int i = 0; i < u.rank; ++i) {
            if (line_has(i) && (__builtin_mul_overflow(step(i), ax(i).destination, &reach) || reach >> 26 != 0))
                return false;
        }
        return true;
    }

    bool measure(std::int64_t most_shared) {
        std::uint64_t line_bits = u.c.destination, span_bits = u.source;
        for (int i = 0; i < u.rank; ++i) {
            const bool cut_short = step(i) < ax(i).extent;
            if (!line_has(i)) line_bits |= bits(ax(i).destination);
            // A span that runs backwards begins at its last element.
            if (!span_has(i) || (step(i) > 1 && ax(i).source < 0)) span_bits |= bits(ax(i).source);
            if (line_has(i) && cut_short) line_bits |= bits(ax(i).destination * step(i));
            if (span_has(i) && cut_short) span_bits |= bits(ax(i).source * step(i));
        }
        line_alignment = alignment(line_bits, kSector);
        if (along >= 0 && step(along) < ax(along).extent && line_alignment < kSector && !u.gaps) {
            halo = up<std::int64_t>(kSector - u.unit, ax(along).destination);
            if (halo * 4 > step(along)) halo = 0;
            if (halo > 0) span_bits |= bits(ax(along).source * halo);
        }
        if (along >= 0 && span_has(along)) span += halo * ax(along).distance;
        span_alignment = alignment(span_bits, kFetched);
        for (int i = 0; i < u.rank; ++i) {
            if (step(i) > 1 && !span_has(i)) spans *= step(i) + (i == along ? halo : 0);
        }
        chunks =
            up<std::int64_t>(span + kVectorBytes - std::min<std::int64_t>(kVectorBytes, span_alignment), kVectorBytes);
        const bool repeats = along < 0 || span_has(along);
        // If the units of a line come from different spans, the lanes of a warp read spans in different banks.
        pitch = u.source_unit == kVectorBytes ? chunks | 1 : chunks;
        skew = u.source_unit == kVectorBytes ? kNoSkew : std::countr_zero(static_cast<unsigned>(units_of_thread()));
        find_groups(span_bits);
        table = repeats ? line_step + (u.gaps ? 0 : kVectorBytes / u.unit - 1) : line_step * (step(along) + halo);
        return table <= kMostTable && shared() <= most_shared && spans * chunks < (1 << 20) && tiles <= kMostRuns;
    }

    // Uses groups of lines if neighbours in a span belong to different lines and reading a line's units would cause
    // many bank conflicts. Groups take more instructions. span_bits: of where spans begin.
    void find_groups(std::uint64_t span_bits) {
        if (u.unit > 2 || u.gaps || u.converts_at_store) return;
        int next = -1;
        std::uint64_t all = span_bits;
        for (int i = 0; i < u.rank; ++i) {
            if (!span_has(i)) continue;
            if (next < 0 && !line_has(i) && heads_group(i)) {
                next = i;
            } else {
                all |= bits(ax(i).source);
            }
        }
        // Conversions have only the kernels for this.
        shifted = u.converts_at_load || alignment(all, kVectorBytes) < kVectorBytes;
        if (next < 0) return;
        if (conflicts_at(pitch, skew) < (shifted ? kManyForShifted : kManyConflicts)) return;
        group = next;
        skew = std::countr_zero(static_cast<unsigned>(units_of_thread()));
        aligned = line_alignment >= 4 && halo == 0;
    }
    // Whether the L2 fetches whole lines. For shorter spans, and for bytes, which often begin anywhere, it would read
    // much in vain.
    bool fetches_lines() const { return u.source_unit > 1 && span >= kWorthALine; }
    // Whether successive lines are equal, except for where they go.
    bool repeated() const { return across >= 0 && ax(across).repeats(); }
    // Units that follow each other in a line and that a thread moves at once.
    int units_of_thread() const { return (group >= 0 ? 4 : kVectorBytes) / u.unit; }
    // Lines that have a position of their own in the tables; and their axes.
    std::int64_t lines_listed() const { return group >= 0 ? lines / step(group) : lines; }
    int rows_listed() const { return rank_of(in_line) - (group >= 0 ? 1 : 0); }
    std::int64_t groups_along() const { return up<std::int64_t>(step(group) * u.unit, kVectorBytes); }

    // Counts bank conflicts. This takes half a microsecond.
    void count_conflicts() {
        if (!u.gaps) conflicts = conflicts_at(pitch, skew);
    }
    // If there are many conflicts, tries other distances between spans. This takes several times as long.
    void settle_banks(const gpu& on) {
        count_conflicts();
        if (conflicts < kFewConflicts || spans == 1 || u.gaps) return;
        const std::int64_t least = pitch, most_shared = std::min<std::int64_t>(kMostShared, on.shared_bytes_of_block);
        std::int64_t best = pitch;
        for (std::int64_t more = 1; more < 8 && 4 * more <= least + 4; ++more) {
            pitch = least + more;
            if (shared() > most_shared) break;
            if (const double now = conflicts_at(pitch, skew); now < 0.9 * conflicts) conflicts = now, best = pitch;
        }
        pitch = best;
    }

    // Looks at the first warp, and at the first unit of its vectors.
    double conflicts_at(std::int64_t pitch_tried, int skew_tried) const {
        const int read = group >= 0 ? kVectorBytes : std::max(4, u.source_unit);  // bytes at a time
        const auto word = static_cast<unsigned>(read), banks = 128 / word;        // and as many lanes
        const int lanes = group >= 0 ? static_cast<int>(banks) : 1 << lanes_log();
        const std::int64_t vectors = std::max<std::int64_t>(1, line / (units_of_thread() * u.unit));
        std::array<place_in_spans, 32> of_vector;
        for (int v = 0; v < static_cast<int>(banks) && v < lanes && v < vectors; ++v)
            of_vector[static_cast<std::size_t>(v)] = place_of(v * units_of_thread(), 0);
        // Lanes that read the same word are no conflict. Each bank has a list of the lanes that read other words.
        std::array<unsigned, 32> words;
        std::array<signed char, 32> latest, before;
        std::array<unsigned char, 32> of_bank{};
        latest.fill(-1);
        unsigned char most = 1;
        place_in_spans of_row;
        for (unsigned lane = 0; lane < banks; ++lane) {
            const unsigned vector = lane % static_cast<unsigned>(lanes), row = lane / static_cast<unsigned>(lanes);
            if (vector >= vectors || row >= lines) continue;
            if (vector == 0) of_row = place_of(0, row);
            const place_in_spans& v = of_vector[vector];
            const std::int64_t spans_before = v.spans + of_row.spans;
            const std::int64_t at = (spans_before * pitch_tried + (spans_before >> skew_tried)) * kVectorBytes +
                                    ((v.phase + of_row.phase) & (kVectorBytes - 1)) + v.within + of_row.within;
            words[lane] = static_cast<unsigned>(at) / word;
            const unsigned bank = words[lane] % banks;
            int other = latest[bank];
            while (other >= 0 && words[static_cast<std::size_t>(other)] != words[lane])
                other = before[static_cast<std::size_t>(other)];
            if (other >= 0) continue;
            before[lane] = latest[bank];
            latest[bank] = static_cast<signed char>(lane);
            most = std::max(most, ++of_bank[bank]);
        }
        return most;
    }
    // Where a unit of a line is, if the tile's first span begins at a vector: that many spans on, and bytes. `phase` is
    // how far a span begins from a multiple of a vector, plus any such multiple.
    struct place_in_spans {
        std::int64_t spans = 0, within = 0, phase = 0;
    };
    place_in_spans place_of(std::int64_t at, std::int64_t row) const {
        auto unit_left = static_cast<unsigned>(at), row_left = static_cast<unsigned>(row);
        place_in_spans place;
        std::int64_t times = 1;
        for (int i = 0; i < u.rank; ++i) {
            const auto n = static_cast<unsigned>(step(i));
            if (n == 1 || i == across) continue;
            unsigned& left = line_has(i) ? unit_left : row_left;
            unsigned digit = left;
            if (i != along && left >= n) {
                digit = left % n;
                left /= n;
            } else if (i != along) {
                left = 0;
            }
            if (span_has(i)) {
                place.within += digit * ax(i).distance;
            } else {
                place.spans += digit * times;
                place.phase += digit * ax(i).source;
                times *= n;
            }
        }
        if (across >= 0) place.within += row_left * ax(across).distance;
        return place;
    }

    // Includes the padding after each vector's entries.
    std::int64_t table_stride() const {
        const std::int64_t of_vector = kVectorBytes / u.unit;
        return u.gaps ? table : up(table + up(table, of_vector) * copies(), std::int64_t{4}) * 4;
    }
    // Copies of the table. Several pay if it is read often. With gaps there are two tables instead: where units are,
    // and where they go.
    int copies() const {
        if (u.gaps) return 2;
        if (group >= 0 || (!keeps_places() && lines * line / u.unit < kLooksForCopies * table)) return 1;
        return std::min(4, kVectorBytes / u.unit);
    }
    // Whether threads write the same vector of several lines. They then look up its positions only once.
    bool keeps_places() const { return lines > threads() >> lanes_log(); }
    int rank_of(const std::array<bool, kMostAxes + 1>& in) const {
        int count = 0;
        for (int i = 0; i < u.rank; ++i) count += step(i) > 1 && !in[static_cast<std::size_t>(i)];
        return count;
    }
    std::int64_t span_table_at() const { return up<std::int64_t>(table_stride() * 4 * copies(), 16) * 16; }
    std::int64_t line_table_at() const {
        return span_table_at() + (rank_of(in_span) > 1 ? up<std::int64_t>(spans, 2) * 16 : 0);
    }
    std::int64_t group_table_at() const { return line_table_at() + (rows_listed() > 1 ? lines_listed() * 16 : 0); }
    std::int64_t image_at() const {
        const std::int64_t lines_of_groups = group >= 0 ? lines_listed() * groups_along() * (kVectorBytes / u.unit) : 0;
        return up<std::int64_t>(group_table_at() + lines_of_groups * 16, 128) * 128;
    }
    std::int64_t image() const { return kVectorBytes * (spans * pitch + (spans >> skew) + 1); }
    std::int64_t shared() const { return image_at() + image(); }

    int threads() const {
        const auto vectors = static_cast<unsigned>(std::max<std::int64_t>(
            1, std::max(area, spans * chunks * kVectorBytes) / (kVectorBytes * kVectorsOfThread)));
        return static_cast<int>(std::clamp<unsigned>(std::bit_ceil(vectors), kWarp, kMostThreads));
    }
    std::int64_t vectors_of_line() const {
        if (u.gaps) return line / u.unit;
        return up<std::int64_t>(line + (halo > 0                        ? kSector - 1
                                        : line_alignment < kVectorBytes ? kVectorBytes - u.unit
                                                                        : 0),
                                kVectorBytes);
    }
    bool whole_lines() const {
        const std::int64_t all = along >= 0 ? line_step * u.unit * ax(along).extent : u.unit;
        return line_alignment >= kVectorBytes && line % kVectorBytes == 0 && all % kVectorBytes == 0;
    }
    int lanes_log() const {
        const auto all = std::bit_ceil(static_cast<unsigned>(halo > 0 ? line / kVectorBytes : vectors_of_line()));
        const unsigned at_once = u.unit < 4 ? 8 : 16;
        const auto threads_of_line = static_cast<unsigned>(std::max<std::int64_t>(1, threads() / lines));
        return std::countr_zero(
            std::min({all, std::max(at_once, std::bit_floor(threads_of_line)), static_cast<unsigned>(threads())}));
    }

    // What the whole copy has to do (`touched`: bytes of the pieces of 64 bytes that hold the source), with the
    // conflicts counted so far; and the predicted microseconds: policy_tile_cost.cpp.
    counts count(double touched, const gpu& on) const;
    double cost(double touched, const gpu& on) const;
    // The kernels' arguments: policy_tile_work.cpp.
    void fill(plan& p) const;

private:
    void fill_factors(const tile_work& t, cast_work& w) const;
    double rounds_of(std::int64_t items, std::int64_t count, int most_log) const;
    bool begins_differ() const;
};

}  // namespace cornerturn::moves
