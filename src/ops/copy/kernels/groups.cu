// Strided copies of units of 1 and 2 bytes by tiles, groups of lines at a time: see works.hpp.
//
// What limits: instructions where lines begin off alignment (about 20 for each 4 bytes of a line), else DRAM.
#include "ops/copy/kernels/kernels.hpp"
#include "ops/copy/kernels/tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using strided::kMostThreads;
using strided::kResidentThreadsOfGroups;

// The 16 bytes that begin `past` bytes behind the first of two vectors.
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

// A word of each line of a group: units from a vector of each of the word's units.
template <int kUnit, bool kShifted>
struct group_words {
    static constexpr int kUnits = 4 / kUnit, kLines = kVectorBytes / kUnit;
    unsigned of_line[kLines];

    // places: of the units, in the image, but for the group's. bytes: of a vector that there are.
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

// Where a line's words go. kAligned: all lines begin at a word, and none is cut at a sector.
template <int kUnit, bool kAligned>
struct word_writer {
    int begin, end;               // of a line, in bytes
    unsigned begins_at, ends_at;  // masks: lines that are cut begin and end where sectors do

    __device__ __forceinline__ word_writer(const tile_work& t, const tile_here& here)
        : begin(here.before * static_cast<int>(t.along_destination)),
          end(here.line_units * kUnit),
          begins_at(t.halo > 0 && here.before > 0 ? ~(kSectorBytes - 1u) : ~0u),
          ends_at(t.halo > 0 && !here.last ? ~(kSectorBytes - 1u) : ~0u) {}

    // Writes a word, or those of its units that belong to the line. `in_line` is where in the line the word would begin
    // if that did at a word; to: where that is in memory.
    __device__ __forceinline__ void write(byte* to, int in_line, unsigned word) const {
        if constexpr (kAligned) {
            if (in_line + 4 <= end) {
                *reinterpret_cast<unsigned*>(to) = word;
            } else {
                units(to, in_line, end, word);
            }
        } else {
            const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to)) & 3;
            const auto line =
                static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to)) - static_cast<unsigned>(in_line);
            // In the line, of the word as memory has it.
            const int at = in_line - static_cast<int>(past);
            const int first = static_cast<int>(((line + static_cast<unsigned>(begin)) & begins_at) - line);
            const int behind = static_cast<int>(((line + static_cast<unsigned>(end)) & ends_at) - line);
            if (at >= first && at + 4 <= behind) {
                *reinterpret_cast<unsigned*>(to - past) = word;
            } else if (at + 4 > first && at < behind) {
                units(to - past, at - first, behind - first, word);
            }
        }
    }

private:
    static __device__ __forceinline__ void units(byte* to, int at, int behind, unsigned word) {
        CORNERTURN_UNROLL_BY(1)
        for (int u = 0; u < 4; u += kUnit, word >>= 8 * kUnit % 32) {
            if (at + u >= 0 && at + u < behind)
                *reinterpret_cast<storage_t<kUnit>*>(to + u) = static_cast<storage_t<kUnit>>(word);
        }
    }
};

// kShifted: units that follow each other in a line do not all lie at a vector's beginning.
template <int kUnit, bool kShifted, bool kAligned>
__global__ void CORNERTURN_RESIDENT(kMostThreads, kResidentThreadsOfGroups) copy_groups(tile_work t) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    const tile_here here(t, blockIdx.x);
    const loaded_tile<kUnit, false> tile(t, here, shared);
    using group = group_words<kUnit, kShifted>;
    constexpr int kUnits = group::kUnits, kLines = group::kLines;
    const word_writer<kUnit, kAligned> writer(t, here);
    const auto words = static_cast<unsigned>((here.line_units * kUnit + (kAligned ? 3 : 6)) / 4);
    const int lines_along = t.across_in_group ? here.across : t.group_steps;
    const unsigned groups = static_cast<unsigned>(here.lines) * t.by_groups.d;
    unsigned threads_log = 31 - static_cast<unsigned>(__clz(static_cast<int>(blockDim.x)));
    CORNERTURN_UNROLL_BY(1)
    for (unsigned word0 = 0; word0 < words;) {
        const deal d(words - word0, threads_log, threadIdx.x, blockDim.x);
        const unsigned word = word0 + d.lane;
        word0 += d.lanes();
        if (word >= words) break;
        // Where this word's units lie, and the word's before.
        unsigned places[2][kUnits];
        CORNERTURN_UNROLL
        for (int k = kAligned ? kUnits : 0; k < 2 * kUnits; ++k) {
            int unit = (static_cast<int>(word) - 1) * kUnits + k;
            unit = unit < 0 ? 0 : unit < here.line_units ? unit : here.line_units - 1;
            const unsigned period = t.by_period.quotient(static_cast<unsigned>(unit));
            places[k / kUnits][k % kUnits] =
                tile.table[tile_of_units<kUnit>::place_of(static_cast<unsigned>(unit) - period * t.by_period.d)] +
                period * static_cast<unsigned>(t.period_bytes);
        }
        CORNERTURN_UNROLL_BY(1)
        for (unsigned i = d.first; i < groups; i += d.at_once) {
            const unsigned line = t.by_groups.quotient(i), nth = i - line * t.by_groups.d;
            const int left = lines_along - static_cast<int>(nth) * kLines;
            if (left <= 0) continue;
            const place_of_line place = tile.place(t, static_cast<int>(line));
            const unsigned of_group = static_cast<unsigned>(place.row) + nth * kVectorBytes;
            const int bytes = (left < kLines ? left : kLines) * kUnit;
            const group these(tile.image, places[1], of_group, bytes);
            byte* to = here.line0 + (place.offset + static_cast<int>(nth) * kLines * t.group_destination) + 4 * word;
            if constexpr (kAligned) {
                CORNERTURN_UNROLL
                for (int n = 0; n < kLines; ++n) {
                    if (n < left) writer.write(to, static_cast<int>(4 * word), these.of_line[n]);
                    to = kept_pointer(to + t.group_destination);
                }
            } else {
                const group before(tile.image, places[0], of_group, bytes);
                CORNERTURN_UNROLL
                for (int n = 0; n < kLines; ++n) {
                    const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to));
                    const unsigned value = __funnelshift_l(before.of_line[n], these.of_line[n], 8 * past);
                    if (n < left) writer.write(to, static_cast<int>(4 * word), value);
                    to = kept_pointer(to + t.group_destination);
                }
            }
        }
    }
}

template <int kUnit>
void run(const tile_work& t, bool shifted, bool aligned, const launch_shape& shape) {
    if (shifted && aligned) return launch(shape, copy_groups<kUnit, true, true>, t);
    if (shifted) return launch(shape, copy_groups<kUnit, true, false>, t);
    if (aligned) return launch(shape, copy_groups<kUnit, false, true>, t);
    launch(shape, copy_groups<kUnit, false, false>, t);
}

}  // namespace

void run_groups(const strided::tile_work& t, int unit, bool shifted, bool aligned, const launch_shape& shape) {
    if (unit == 1) return run<1>(t, shifted, aligned, shape);
    run<2>(t, shifted, aligned, shape);
}

}  // namespace CORNERTURN_KERNELS
