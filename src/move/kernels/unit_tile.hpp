// A tile of elements of any size, in units. transpose_units and transpose_units_in_place are made of it.
//
// Reads: a thread reads words. For elements of a few narrow units, it instead reads a small block whose rows and
// columns are both whole words, and transposes it in registers. Rows begin anywhere in a word. But rows at a suitable
// distance begin at the same position in a word, so a thread computes it once. Data is staged as it will be written:
// columns, element after element. After the barrier nothing depends on the element.
//
// Writes: aligned vectors of 16 bytes, and whole sectors (32 bytes), because a sector that two blocks write in part
// costs twice. The rows of the destination begin at different positions in a sector, so the columns of a tile end at
// different rows. A tile therefore holds more rows than it moves: as many more as fill one sector. The next tile begins
// with the rows that this one leaves.
#pragma once

#include "move/kernels/unaligned.hpp"
#include "move/unit_cut.hpp"

namespace CORNERTURN_KERNELS {

using moves::divided_up;
using moves::reciprocal;
using moves::round_up;
using moves::unit_cut;
using moves::unit_shape;

// The work, in bytes.
struct unit_work {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols, from_pitch, to_pitch, from_stride, to_stride;
    moves::batch_axes batch;
    std::int64_t size;            // of the source, from the start of its first element to the end of its last
    std::int64_t step;            // from one row that a thread reads to its next
    std::int64_t reach;           // from the first byte that a thread reads to the end of its last
    std::int64_t reach_of_group;  // the same for one group
    std::int64_t to_step;         // from one row that a thread writes to its next
    int length;                   // of its rows
    bool dense;                   // without gaps between them
    bool keeps_lines;
};

// Divides a dividend below 2048 by a divisor below 512. Their product is below 2^20.
__device__ __forceinline__ unsigned divided(unsigned dividend, unsigned reciprocal) {
    return dividend * reciprocal / moves::kReciprocal;
}

// kUnits: units in an element if known at compile time, else 0. kShifted: whether narrow units begin within words.
template <int kUnit, int kUnits, bool kShifted>
struct unit_tile {
    using word = word_t<kUnit>;
    using unit = storage_t<kUnit>;
    static constexpr unit_shape kShape{kUnit, kUnits, kShifted};
    static constexpr int kWord = kShape.word(), kPerWord = kElementsPerWord<kUnit>;
    static constexpr int kPeriod = kShape.period();
    static constexpr bool kTransposed = kShape.transposed();
    static constexpr int kRows = kShape.rows(), kWords = kShape.words(), kWidth = kShape.width();
    static constexpr int kRaw = kWords + (kShifted ? 1 : 0), kResident = kShape.resident();
    static constexpr int kWait = kUnits == 1 ? 16 : 8;  // words, or words of a group, that a thread waits for at a time
    static constexpr int kAtOnce = kRows * kWords < kWait ? kWait / (kRows * kWords) : 1;
    static_assert(!kTransposed || (kUnit < 4 && kUnits % 2 == 1));
    static_assert(kAtOnce == 1 || kAtOnce == 2 || kAtOnce == 4 || kAtOnce == 8);

    static unit_work in_bytes(const moves::matrices_work& work, const unit_cut& cut) {
        const std::int64_t element = cut.element, pitch = work.source_ld * element, length = work.cols * element;
        const std::int64_t step = cut.at_once * kRows * pitch;
        moves::batch_axes batch = work.batch;
        for (auto& axis : batch.axes) axis.source *= element, axis.destination *= element;
        return {static_cast<const byte*>(work.source),
                static_cast<byte*>(work.destination),
                work.rows,
                work.cols,
                pitch,
                work.destination_ld * element,
                work.source_stride * element,
                work.destination_stride * element,
                batch,
                (work.rows - 1) * pitch + length,
                step,
                (cut.iterations - 1) * step + (kRows - 1) * pitch + kThrough,
                (kRows - 1) * pitch + kThrough,
                (std::int64_t{32} >> cut.lanes_log << cut.warps_log) * work.destination_ld * element,
                static_cast<int>(length),
                pitch == length,
                work.keeps_lines};
    }

    // Column `c` of a tile begins `address(c)` bytes into shared memory. The columns that one thread transposes have
    // their own distance. The columns of neighbouring lanes are an odd number of words apart, so they begin in
    // different banks.
    static __device__ __forceinline__ unsigned address(const unit_cut& cut, unsigned lane, unsigned col_of_lane) {
        return lane * cut.from_lane + col_of_lane * cut.from_col;
    }

    // Makes words of columns out of a group's words.
    static __device__ __forceinline__ void transpose(const word (&rows)[kRows][kWords],
                                                     word (&columns)[kRows][kWords]) {
        constexpr int kElement = kUnit * kUnits;
        if constexpr (kUnits == 1) {
            word first[kRows], transposed[kRows];
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) first[r] = rows[r][0];
            transpose_words<kUnit>(first, transposed);
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) columns[r][0] = transposed[r];
            return;
        }
        // A word with `count` bytes of a row, beginning with byte `at`. In the word, they begin at byte `past`.
        const auto bytes_of = [&](int row, int at, int count, int& past) {
            const unsigned low = rows[row][at / 4];
            past = at % 4;
            if (past + count <= 4) return low;
            const unsigned both = __funnelshift_r(low, rows[row][at / 4 + 1], 8 * past);
            past = 0;
            return both;
        };
        CORNERTURN_UNROLL
        for (int c = 0; c < kRows; ++c) {
            CORNERTURN_UNROLL
            for (int w = 0; w < kWords; ++w) {
                // The rest of one row's element, and the beginning of the next row's.
                const int row = 4 * w / kElement, in_element = 4 * w % kElement;
                const int count = kElement - in_element < 4 ? kElement - in_element : 4;
                int past = 0, next_past = 0;
                const unsigned a = bytes_of(row, c * kElement + in_element, count, past);
                const unsigned b = count < 4 ? bytes_of(row + 1, c * kElement, 4 - count, next_past) : 0;
                unsigned selector = 0;
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k)
                    selector |= static_cast<unsigned>(k < count ? past + k : 4 + next_past + k - count) << 4 * k;
                columns[c][w] = __byte_perm(a, b, selector);
            }
        }
    }

    // Where a thread stages its groups: one position for each of its columns, or for each unit of a word.
    struct stage_slots {
        static constexpr int kSlots = kTransposed ? kRows : kPerWord;
        byte* to[kSlots];
        bool whole;  // all units of a word belong to one element

        __device__ __forceinline__ stage_slots(const unit_cut& cut, unsigned lane, unsigned group, byte* tile) {
            if constexpr (kTransposed) {
                CORNERTURN_UNROLL
                for (int c = 0; c < kSlots; ++c) to[c] = tile + address(cut, lane, c) + group * kWidth;
            } else {
                const auto element = static_cast<unsigned>(cut.element);
                whole = element % kWord == 0;
                unsigned col = divided(lane * (kWord / kUnit), cut.per_element), past = lane * kWord - col * element;
                CORNERTURN_UNROLL
                for (int k = 0; k < kSlots; ++k) {
                    to[k] = tile + address(cut, col, 0) + group * element + past;
                    past += kUnit;
                    if (past == element) past = 0, ++col;
                }
            }
        }
        // Stages the words of a group. If kTransposed, the group must consist of whole words of columns too.
        __device__ __forceinline__ void stage(const word (&rows)[kRows][kWords], int down) const {
            if constexpr (kTransposed) {
                word columns[kRows][kWords];
                transpose(rows, columns);
                CORNERTURN_UNROLL
                for (int c = 0; c < kRows; ++c) {
                    CORNERTURN_UNROLL
                    for (int w = 0; w < kWords; ++w) *reinterpret_cast<word*>(to[c] + down + w * kWord) = columns[c][w];
                }
            } else {
                stage_row(rows[0], down);
            }
        }
        // Stages the words of one row, unit by unit.
        __device__ __forceinline__ void stage_row(const word (&words)[kWords], int down) const {
            if (!kTransposed && (kPerWord == 1 || whole)) {
                *reinterpret_cast<word*>(to[0] + down) = words[0];
            } else if constexpr (kPerWord > 1) {
                CORNERTURN_UNROLL
                for (int k = 0; k < kWords * kPerWord; ++k) {
                    byte* const element = kTransposed ? to[k / kUnits] + k % kUnits * kUnit : to[k];
                    *reinterpret_cast<unit*>(element + down) =
                        static_cast<unit>(words[k / kPerWord] >> 8 * kUnit * (k % kPerWord));
                }
            }
        }
        __device__ __forceinline__ void step(int down) {
            CORNERTURN_UNROLL
            for (int k = 0; k < kSlots; ++k) to[k] += down;
        }
    };

    // The words of one row of a thread's groups.
    struct part_of_row {
        const byte* from;  // aligned
        unsigned past;     // bytes of its first word that belong to another thread

        __device__ __forceinline__ void begin_at(const byte* address) {
            past = kShifted ? static_cast<unsigned>(past_word(address)) : 0;
            from = kept_pointer(address - past);
        }
        __device__ __forceinline__ void load(word (&raw)[kRaw], read_policy read) const {
            CORNERTURN_UNROLL
            for (int k = 0; k < kRaw; ++k) {
                const auto* const address = reinterpret_cast<const word*>(from) + k;
                if constexpr (kShifted)
                    raw[k] = load_beside_writes(address, read);
                else
                    raw[k] = read.load(address);
            }
        }
        __device__ __forceinline__ word shifted(const word (&raw)[kRaw], int k) const {
            if constexpr (kShifted) {
                return __funnelshift_r(raw[k], raw[k + 1], 8 * past);
            } else {
                return raw[k];
            }
        }
    };

    // Bytes that a thread reads before its words; and from its first word to the end of its last read.
    static constexpr int kBefore = kShifted ? 3 : 0, kThrough = kWidth + (kShifted ? 4 : 0);

    // Stages the tile. Its first row is `row`, and its first column begins `col` bytes into the row. `thread` is one of
    // the threads that do this.
    static __device__ __forceinline__ void load(const unit_work& work, const unit_cut& cut, const byte* matrix,
                                                std::int64_t row, int col, byte* tile, unsigned thread) {
        const unsigned group = divided(thread, cut.per_across), lane = thread - group * cut.across;
        const int in_row = col + static_cast<int>(lane) * kWidth, down = cut.at_once * kRows * cut.element;
        if (group >= static_cast<unsigned>(cut.at_once) || in_row >= work.length) return;
        row += group * kRows;
        stage_slots slots(cut, lane, group, tile);
        // Whether all that is read in the next `reach` bytes, and just before them, belongs to elements: not to gaps,
        // and not to memory outside the matrix.
        std::int64_t first = row * work.from_pitch + in_row;
        const bool in_gaps = !work.dense && (in_row < kBefore || in_row + kThrough > work.length);
        const auto is_inside = [&](std::int64_t reach) {
            return first >= kBefore && first + reach <= work.size && !in_gaps;
        };
        const read_policy read(work.keeps_lines);
        part_of_row parts[kRows];
        if (is_inside(work.reach)) {
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) parts[r].begin_at(matrix + first + r * work.from_pitch);
            CORNERTURN_UNROLL_BY(1)
            for (int i = kAtOnce; i <= cut.iterations; i += kAtOnce) move<kAtOnce>(parts, work.step, slots, down, read);
            if constexpr (kAtOnce > 4) {
                if ((cut.iterations & 4) != 0) move<4>(parts, work.step, slots, down, read);
            }
            if constexpr (kAtOnce > 2) {
                if ((cut.iterations & 2) != 0) move<2>(parts, work.step, slots, down, read);
            }
            if constexpr (kAtOnce > 1) {
                if ((cut.iterations & 1) != 0) move<1>(parts, work.step, slots, down, read);
            }
            return;
        }
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < cut.iterations; ++i) {
            if (is_inside(work.reach_of_group)) {
                CORNERTURN_UNROLL
                for (int r = 0; r < kRows; ++r) parts[r].begin_at(matrix + first + r * work.from_pitch);
                move<1>(parts, work.step, slots, down, read);
            } else {
                load_within(work, matrix, row, in_row, slots, read);
                slots.step(down);
            }
            first += work.step;
            row += cut.at_once * kRows;
        }
    }

    // Stages the part of a group that exists, and 0 for the rest.
    static __device__ __forceinline__ void load_within(const unit_work& work, const byte* matrix, std::int64_t row,
                                                       int in_row, const stage_slots& slots, read_policy read) {
        CORNERTURN_UNROLL_BY(1)
        for (int r = 0; r < kRows; ++r) {
            const bool there = row + r >= 0 && row + r < work.rows;
            const byte* const line = matrix + (row + r) * work.from_pitch;
            word words[kWords];
            CORNERTURN_UNROLL
            for (int k = 0; k < kWords; ++k) {
                words[k] = {};
                if (there && in_row + k * kWord < work.length)
                    words[k] = load_word_within<kUnit>(line + in_row + k * kWord, line, line + work.length, read);
            }
            slots.stage_row(words, r * kUnit * kUnits);
        }
    }

    // Loads kGroups groups and stages them.
    template <int kGroups>
    static __device__ __forceinline__ void move(part_of_row (&parts)[kRows], std::int64_t step, stage_slots& slots,
                                                int down, read_policy read) {
        word raw[kGroups][kRows][kRaw];
        CORNERTURN_UNROLL
        for (int g = 0; g < kGroups; ++g) {
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) {
                parts[r].load(raw[g][r], read);
                parts[r].from = kept_pointer(parts[r].from + step);
            }
        }
        CORNERTURN_UNROLL
        for (int g = 0; g < kGroups; ++g) {
            word words[kRows][kWords];
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) {
                CORNERTURN_UNROLL
                for (int k = 0; k < kWords; ++k) words[r][k] = parts[r].shifted(raw[g][r], k);
            }
            slots.stage(words, g * down);
        }
        slots.step(kGroups * down);
    }

    // Reads vectors of a column. They are whole vectors apart, so all begin at the same position in a word, and `past`
    // is computed once.
    struct column_reader {
        const byte* from;     // aligned
        int past, last_word;  // bytes from `from` to the vector, and to the word with its last byte

        __device__ __forceinline__ explicit column_reader(const byte* address) {
            past = kPerWord > 1 ? past_word(address) : 0;
            from = address - past;
            last_word = past > 0 ? kVectorBytes : kVectorBytes - kWord;
        }
        __device__ __forceinline__ uint4 vector() const {
            if constexpr (kUnit == 16) {
                return value_at<uint4>(from);
            } else if constexpr (kUnit == 8) {
                const uint2 low = value_at<uint2>(from), high = value_at<uint2>(from + 8);
                return make_uint4(low.x, low.y, high.x, high.y);
            } else if constexpr (kUnit == 4) {
                return make_uint4(value_at<unsigned>(from), value_at<unsigned>(from + 4), value_at<unsigned>(from + 8),
                                  value_at<unsigned>(from + 12));
            } else {
                unsigned raw[5], words[4];
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k) raw[k] = value_at<unsigned>(from + 4 * k);
                raw[4] = value_at<unsigned>(from + last_word);  // the fourth word again, if no fifth is needed
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k) words[k] = __funnelshift_r(raw[k], raw[k + 1], 8 * past);
                return make_uint4(words[0], words[1], words[2], words[3]);
            }
        }
        // A word of the vector.
        __device__ __forceinline__ word word_at(int k) const {
            if constexpr (kPerWord == 1) {
                return value_at<word>(from + k);
            } else {
                const unsigned low = value_at<unsigned>(from + k);
                return past == 0 ? low : __funnelshift_r(low, value_at<unsigned>(from + k + 4), 8 * past);
            }
        }
        __device__ __forceinline__ unit unit_at(int k) const { return value_at<unit>(from + past + k); }
    };

    // Writes the tile from row `row` on: `cols` of its columns, or all of them. `line` is the address of that row of
    // the first column in the destination.
    static __device__ __forceinline__ void store(const unit_work& work, const unit_cut& cut, byte* line,
                                                 std::int64_t row, std::int64_t cols, const byte* tile) {
        const std::int64_t rows = work.rows - row;
        const unsigned cols_here = static_cast<unsigned>(cols < cut.cols ? cols : cut.cols);
        const bool last = rows <= cut.moved;
        const int bytes = (last ? static_cast<int>(rows) : cut.moved) * cut.element,
                  begin = row == 0 ? 0 : -kSectorBytes;
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const unsigned vector = (warp >> cut.warps_log << cut.lanes_log) + (lane & ((1u << cut.lanes_log) - 1));
        const int step = cut.phases << cut.lanes_log << 4;
        // Neighbouring lanes write columns that neighbouring lanes staged.
        const unsigned cols_log = 5 - cut.lanes_log, near_log = cut.near_log;
        const unsigned t = ((warp & ((1u << cut.warps_log) - 1)) << cols_log) + (lane >> cut.lanes_log);
        const unsigned of_lane = t >> near_log & (kRows - 1);
        const unsigned at_lane = (t >> near_log) / kRows << near_log | (t & ((1u << near_log) - 1));
        const unsigned cols_step = 1u << (cut.warps_log + cols_log);
        const int column_step = static_cast<int>(cols_step / kRows) * cut.from_lane;
        unsigned c = at_lane * kRows + of_lane;
        byte* to = line + c * work.to_pitch;
        const byte* column = tile + address(cut, at_lane, of_lane) + cut.back * cut.element;
        CORNERTURN_UNROLL_BY(1)
        for (; c < cols_here; c += cols_step) {
            const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % kSectorBytes);
            const int end = last ? bytes : bytes - (past + bytes) % kSectorBytes;
            int at = static_cast<int>(vector) * kVectorBytes - (row == 0 ? past % kVectorBytes : past);
            column_reader reader(column + at);
            byte* address = to + at;
            CORNERTURN_UNROLL_BY(1)
            for (; at < end; at += step) {
                if (at >= begin && at + kVectorBytes <= end) {
                    __stwb(reinterpret_cast<uint4*>(address), reader.vector());
                } else {
                    store_within(address, reader, begin - at, end - at);
                }
                address += step;
                reader.from += step;
            }
            to += work.to_step;
            column += column_step;
        }
    }

    // Writes the part of a vector that is in [begin, end) of it.
    static __device__ __forceinline__ void store_within(byte* to, const column_reader& reader, int begin, int end) {
        CORNERTURN_UNROLL_BY(1)
        for (int k = 0; k < kVectorBytes; k += kWord) {
            if (k >= begin && k + kWord <= end) {
                *reinterpret_cast<word*>(to + k) = reader.word_at(k);
            } else if constexpr (kPerWord > 1) {
                CORNERTURN_UNROLL_BY(1)
                for (int u = k; u < k + kWord; u += kUnit) {
                    if (u >= begin && u < end) *reinterpret_cast<unit*>(to + u) = reader.unit_at(u);
                }
            }
        }
    }
};

}  // namespace CORNERTURN_KERNELS
