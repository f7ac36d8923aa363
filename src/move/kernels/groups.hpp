// Strided copies by tiles, for units of 1 and 2 bytes, with groups of lines at a time: see kernels/work.hpp.
//
// What limits it: instructions. A word of a line takes about 10, and as many more if spans are not aligned.
#pragma once

#include "move/kernels/tile.hpp"

namespace CORNERTURN_KERNELS {

// The 16 bytes that begin `past` bytes into the first of two vectors.
__device__ __forceinline__ uint4 shifted(const uint4& first, const uint4& next, unsigned past) {
    unsigned words[8] = {first.x, first.y, first.z, first.w, next.x, next.y, next.z, next.w};
    CORNERTURN_UNROLL
    for (int i = 0; i < 6; ++i) words[i] = (past & 8) != 0 ? words[i + 2] : words[i];
    CORNERTURN_UNROLL
    for (int i = 0; i < 5; ++i) words[i] = (past & 4) != 0 ? words[i + 1] : words[i];
    const unsigned bits = 8 * (past & 3);
    return make_uint4(__funnelshift_r(words[0], words[1], bits), __funnelshift_r(words[1], words[2], bits),
                      __funnelshift_r(words[2], words[3], bits), __funnelshift_r(words[3], words[4], bits));
}

__device__ __forceinline__ unsigned word_of(const uint4& vector, int i) {
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

// A word for each line of a group. Its units come from one vector each.
template <int kUnit, bool kShifted>
struct group_words {
    static constexpr int kUnits = 4 / kUnit, kLines = kVectorBytes / kUnit;
    unsigned of_line[kLines];

    // places: positions of the units in the image, without the group's offset. bytes: how many of a vector exist.
    __device__ __forceinline__ group_words(const byte* image, const unsigned (&places)[kUnits], unsigned of_group,
                                           int bytes) {
        uint4 vectors[kUnits];
        CORNERTURN_UNROLL
        for (int k = 0; k < kUnits; ++k) {
            const unsigned at = places[k] + of_group, past = kShifted ? at % kVectorBytes : 0;
            const byte* const from = image + (at - past);
            vectors[k] = value_at<uint4>(from);
            if constexpr (kShifted) {
                uint4 next = vectors[k];
                if (static_cast<int>(past) + bytes > kVectorBytes) next = value_at<uint4>(from + kVectorBytes);
                vectors[k] = shifted(vectors[k], next, past);
            }
        }
        CORNERTURN_UNROLL
        for (int m = 0; m < 4; ++m) {
            unsigned units[kUnits], lines[kUnits];
            CORNERTURN_UNROLL
            for (int k = 0; k < kUnits; ++k) units[k] = word_of(vectors[k], m);
            transpose_words<kUnit>(units, lines);
            CORNERTURN_UNROLL
            for (int c = 0; c < kUnits; ++c) of_line[m * kUnits + c] = lines[c];
        }
    }
};

// Where a line's words go. Word 0 begins at a word of memory: where the line begins, or up to 3 bytes before.
struct alignas(16) line_of_words {
    byte* words;
    int first;                   // the first word that is whole and this block's
    unsigned short count, bits;  // how many such words; how many bits of word 0 are before the line
};

// A line of a group, and which of its bytes belong to this block.
struct line_ends {
    byte* line;
    int begin, end;  // of this block's part, in bytes

    __device__ __forceinline__ line_ends(const tile_work& t, const tile_here& here, const place_of_line& place, int nth)
        : line(here.line0 + (place.offset + nth * t.group_destination)),
          begin(here.before * static_cast<int>(t.along_destination)),
          end(here.line_units * static_cast<int>(t.unit)) {
        if (t.halo > 0) end_at_sectors(line, here.before > 0, here.last, begin, end);
    }
    __device__ __forceinline__ int past_word() const {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % 4);
    }
    __device__ __forceinline__ int first_word() const { return (begin + past_word() + 3) / 4; }
    __device__ __forceinline__ int behind_words() const { return (end + past_word()) / 4; }
};

template <int kUnit>
struct group_writer {
    static constexpr int kLines = kVectorBytes / kUnit, kUnits = 4 / kUnit;
    const tile_work& t;
    const tile_here& here;
    const loaded_tile<moved<kUnit>, false>& tile;
    int lines_along;  // along the groups' axis

    __device__ __forceinline__ int count() const { return here.lines * static_cast<int>(t.by_groups.d) * kLines; }

    // Calls each(place, number of the line along the groups' axis) for this line.
    template <class Each>
    __device__ __forceinline__ void with_line(unsigned number, Each each) const {
        const unsigned group = number / kLines, listed = t.by_groups.quotient(group);
        const auto nth = static_cast<int>(number - listed * t.by_groups.d * kLines);
        if (nth < lines_along) each(place_of_line(t, listed, moved<kUnit>{}), nth);
    }

    __device__ __forceinline__ void make_lines(line_of_words* lines) const {
        CORNERTURN_UNROLL_BY(1)
        for (int number = static_cast<int>(threadIdx.x); number < count(); number += static_cast<int>(blockDim.x)) {
            line_of_words words{here.line0, 0, 0, 0};
            with_line(static_cast<unsigned>(number), [&](const place_of_line& place, int nth) {
                const line_ends ends(t, here, place, nth);
                const int count = ends.behind_words() - ends.first_word();
                words = {ends.line - ends.past_word(), ends.first_word(),
                         static_cast<unsigned short>(count > 0 ? count : 0),
                         static_cast<unsigned short>(8 * ends.past_word())};
            });
            lines[number] = words;
        }
    }

    // Where in the image a unit of a line is, without the line's own offset.
    __device__ __forceinline__ unsigned place_of(int unit) const {
        const unsigned period = t.by_period.quotient(static_cast<unsigned>(unit));
        return tile.table[tile_of_units<kUnit>::place_of(static_cast<unsigned>(unit) - period * t.by_period.d, 1)] +
               period * static_cast<unsigned>(t.period_bytes);
    }

    // Writes the parts of words with which lines begin and end. Each thread writes one unit.
    __device__ __forceinline__ void write_ends() const {
        constexpr int kEnds = 2 * kUnits;
        CORNERTURN_UNROLL_BY(1)
        for (int i = static_cast<int>(threadIdx.x); i < count() * kEnds; i += static_cast<int>(blockDim.x)) {
            with_line(static_cast<unsigned>(i / kEnds), [&](const place_of_line& place, int nth) {
                const line_ends ends(t, here, place, nth);
                const int in_end = i % kEnds % kUnits * kUnit;
                const int head = 4 * ends.first_word() - ends.past_word();
                const int tail = 4 * ends.behind_words() - ends.past_word();
                const bool at_end = i % kEnds >= kUnits;
                const int at = (at_end ? (tail > head ? tail : head) : ends.begin) + in_end;
                if (at >= ends.end || (!at_end && at >= head)) return;
                using unit = storage_t<kUnit>;
                *reinterpret_cast<unit*>(ends.line + at) = value_at<unit>(
                    tile.image + (place_of(at / kUnit) + static_cast<unsigned>(place.row + nth * kUnit)));
            });
        }
    }
};

// kShifted: units that follow each other in a line need not be at the beginning of a vector. kAligned: every line
// begins at a word of memory. Load reads the spans (tile.hpp).
template <int kUnit, bool kShifted, bool kAligned, class Load>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads, moves::kResidentThreadsOfGroups)
    copy_groups(tile_work t, Load load) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    const auto here = load.tile_of(t);
    const auto read = [&](const std::int64_t* span_table, byte* image) { load(t, here, span_table, image); };
    auto* const lines = reinterpret_cast<line_of_words*>(shared + t.group_table_at);
    using group = group_words<kUnit, kShifted>;
    constexpr int kUnits = group::kUnits, kLines = group::kLines;
    const int lines_along = t.across_in_group ? here.across : t.group_steps;
    const loaded_tile<moved<kUnit>, false> tile(
        t, here, moved<kUnit>{}, shared, read, [&](const loaded_tile<moved<kUnit>, false>& loading) {
            group_writer<kUnit>{t, here, loading, lines_along}.make_lines(lines);
        });
    const group_writer<kUnit> writer{t, here, tile, lines_along};
    const auto words = static_cast<unsigned>((here.line_units * kUnit + (kAligned ? 3 : 6)) / 4);
    const unsigned groups = static_cast<unsigned>(here.lines) * t.by_groups.d;
    const auto threads_log = static_cast<unsigned>(31 - __clz(static_cast<int>(blockDim.x)));
    CORNERTURN_UNROLL_BY(1)
    for (unsigned word0 = 0; word0 < words;) {
        const deal d(words - word0, threads_log, threadIdx.x, blockDim.x);
        const unsigned word = word0 + d.lane;
        word0 += d.lanes();
        if (word >= words) break;
        // Positions of the units of the word before, and of this word.
        unsigned places[2][kUnits];
        CORNERTURN_UNROLL
        for (int k = kAligned ? kUnits : 0; k < 2 * kUnits; ++k) {
            const int unit = (static_cast<int>(word) - 1) * kUnits + k;
            places[k / kUnits][k % kUnits] = writer.place_of(unit < 0                 ? 0
                                                             : unit < here.line_units ? unit
                                                                                      : here.line_units - 1);
        }
        CORNERTURN_UNROLL_BY(1)
        for (unsigned i = d.first; i < groups; i += d.at_once) {
            const unsigned listed = t.by_groups.quotient(i), nth = i - listed * t.by_groups.d;
            const int left = lines_along - static_cast<int>(nth) * kLines;
            if (left <= 0) continue;
            const unsigned of_group =
                static_cast<unsigned>(tile.place(t, static_cast<int>(listed)).row) + nth * kVectorBytes;
            const int bytes = (left < kLines ? left : kLines) * kUnit;
            const group these(tile.image, places[1], of_group, bytes);
            const group before(tile.image, places[kAligned ? 1 : 0], of_group, bytes);
            CORNERTURN_UNROLL
            for (int n = 0; n < kLines; ++n) {
                const uint4 line = value_at<uint4>(reinterpret_cast<const byte*>(lines + i * kLines + n));
                const unsigned value =
                    kAligned ? these.of_line[n] : __funnelshift_l(before.of_line[n], these.of_line[n], line.w >> 16);
                if (word - line.z >= (line.w & 0xffff)) continue;
                byte* const to = reinterpret_cast<byte*>(static_cast<std::uint64_t>(line.y) << 32 | line.x);
                reinterpret_cast<unsigned*>(to)[word] = value;
            }
        }
    }
    if (!t.whole_words && !(t.halo > 0 && here.before > 0 && !here.last)) writer.write_ends();
}

template <int kUnit, class Load>
void start_groups(const tile_work& t, const Load& load, [[maybe_unused]] bool shifted, bool aligned,
                  const launch_shape& shape) {
    if constexpr (!Load::kConverts) {
        if (!shifted && aligned) return launch(shape, copy_groups<kUnit, false, true, Load>, t, load);
        if (!shifted) return launch(shape, copy_groups<kUnit, false, false, Load>, t, load);
    }
    if (aligned) return launch(shape, copy_groups<kUnit, true, true, Load>, t, load);
    launch(shape, copy_groups<kUnit, true, false, Load>, t, load);
}

}  // namespace CORNERTURN_KERNELS
