// Elements of any size, moved in units: the largest power of two that divides their size and both addresses.
//
// transpose_units stages tiles in shared memory. Reads: a thread takes a word, or of elements of three narrow units as
// many rows and columns as have whole words in both directions, which it turns in registers; rows begin anywhere, and
// where they begin within a word is the same in all of a thread's rows. What was read is staged as the columns will be
// written: element after element, whatever its size, so that nothing behind the barrier depends on it.
//
// Writes: vectors of 16 bytes that are aligned in memory, and whole sectors (32 bytes), since a sector that two blocks
// write in part costs twice. Each row of the destination begins elsewhere within a sector, so each column of the tile
// ends elsewhere: a tile holds one sector's rows more than it moves, and what it leaves at its end the next tile begins
// with.
//
// Elements of 128 bytes and more are coalesced as they are, and transpose_blocks copies them from where they lie.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256, kMostThreads = 512;
constexpr int kSector = 32;  // bytes

// How tiles lie in a matrix and in shared memory, and how threads share them: for one element, chosen at the launch.
struct unit_cut {
    int element;                       // bytes
    int back, moved, cols;             // rows before those that a tile moves, these, and its columns
    int across, at_once, turns;        // lanes side by side in a row, (groups of) rows that they read, how often
    int from_col, from_lane;           // bytes in shared memory
    int lanes_log, near_log;           // lanes that write one column, and those that write columns of different lanes
    int warps_log, phases;             // warps that write different columns, and sets of them for the columns' parts
    unsigned per_across, per_element;  // reciprocals
    int threads, bytes;
};

// The work, in bytes.
struct unit_work {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols, from_pitch, to_pitch, from_stride, to_stride;
    std::int64_t size;     // of the source, from its first element to its last
    std::int64_t step;     // from one row that a thread reads to the next
    std::int64_t reach;    // from the first byte that a thread reads to behind the last
    std::int64_t to_step;  // from one row that a thread writes to the next
    int length;            // of its rows
    bool dense;            // without gaps behind them
};

// The quotient of a dividend below 2048, by a divisor below 512 of this reciprocal; the product below 2 ** 20.
constexpr unsigned kReciprocal = 1u << 20;
constexpr unsigned reciprocal(unsigned divisor) { return (kReciprocal + divisor - 1) / divisor; }
__device__ __forceinline__ unsigned divided(unsigned dividend, unsigned reciprocal) {
    return dividend * reciprocal / kReciprocal;
}

// kUnits: units of an element, where they are known, or 0. kShifted: whether narrow units begin within words.
template <int kUnit, int kUnits, bool kShifted>
struct unit_tile {
    using word = word_t<kUnit>;
    using unit = storage_t<kUnit>;
    static constexpr int kWord = kWordBytes<kUnit>, kPerWord = kElementsPerWord<kUnit>;
    static constexpr bool kTurned = kUnits > 0;
    // A group: what a thread turns, or, where it turns nothing, a word of one row.
    static constexpr int kRows = kTurned ? kPerWord : 1, kWords = kTurned ? kUnits : 1;
    static constexpr int kWidth = kWords * kWord, kRaw = kWords + (kShifted ? 1 : 0);
    static constexpr int kResident = kRows * kWords > 12 ? 1024 : 1536;  // threads, by their registers
    static constexpr int kAtOnce = kRows * kWords < 8 ? 8 / (kRows * kWords) : 1;
    static_assert(!kTurned || (kUnit < 4 && kUnits % 2 == 1 && kUnits >= 3));
    static_assert(kAtOnce == 1 || kAtOnce == 8);

    // Column `c` of a tile begins `address(c)` bytes into shared memory: columns that a thread turns lie a stride of
    // their own apart, and those of neighbouring lanes an odd number of words, so that they begin in different banks.
    static __device__ __forceinline__ unsigned address(const unit_cut& cut, unsigned lane, unsigned col_of_lane) {
        return lane * cut.from_lane + col_of_lane * cut.from_col;
    }

    // Words of columns out of a group's words.
    static __device__ __forceinline__ void turn(const word (&rows)[kRows][kWords], word (&columns)[kRows][kWords]) {
        constexpr int kElement = kUnit * kUnits;
        // `count` bytes of a row from byte `at` on: in one word, from byte `past` of it on.
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
                // The rest of one row's element, and the beginning of the next one's.
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

    // Where a thread stages its groups: words of so many columns, or a word's units one by one.
    struct place {
        static constexpr int kPlaces = kTurned ? kRows : kPerWord;
        byte* to[kPlaces];
        bool whole;  // all of a word's units are one element's

        __device__ __forceinline__ place(const unit_cut& cut, unsigned lane, unsigned group, byte* tile) {
            if constexpr (kTurned) {
                CORNERTURN_UNROLL
                for (int c = 0; c < kPlaces; ++c) to[c] = tile + address(cut, lane, c) + group * kWidth;
            } else {
                const auto element = static_cast<unsigned>(cut.element);
                whole = element % kWord == 0;
                unsigned col = divided(lane * (kWord / kUnit), cut.per_element), past = lane * kWord - col * element;
                CORNERTURN_UNROLL
                for (int k = 0; k < kPlaces; ++k) {
                    to[k] = tile + address(cut, col, 0) + group * element + past;
                    past += kUnit;
                    if (past == element) past = 0, ++col;
                }
            }
        }
        // A group's words, where they are whole columns' too.
        __device__ __forceinline__ void stage(const word (&rows)[kRows][kWords], int down) const {
            if constexpr (kTurned) {
                word columns[kRows][kWords];
                turn(rows, columns);
                CORNERTURN_UNROLL
                for (int c = 0; c < kRows; ++c) {
                    CORNERTURN_UNROLL
                    for (int w = 0; w < kWords; ++w) *reinterpret_cast<word*>(to[c] + down + w * kWord) = columns[c][w];
                }
            } else {
                stage_row(rows[0], down);
            }
        }
        // One row's words, unit by unit.
        __device__ __forceinline__ void stage_row(const word (&words)[kWords], int down) const {
            if (!kTurned && (kPerWord == 1 || whole)) {
                *reinterpret_cast<word*>(to[0] + down) = words[0];
            } else if constexpr (kPerWord > 1) {
                CORNERTURN_UNROLL
                for (int k = 0; k < kWords * kPerWord; ++k) {
                    byte* const element = kTurned ? to[k / kUnits] + k % kUnits * kUnit : to[k];
                    *reinterpret_cast<unit*>(element + down) =
                        static_cast<unit>(words[k / kPerWord] >> 8 * kUnit * (k % kPerWord));
                }
            }
        }
        __device__ __forceinline__ void step(int down) {
            CORNERTURN_UNROLL
            for (int k = 0; k < kPlaces; ++k) to[k] += down;
        }
    };

    // The words of one row of groups that a thread loads.
    struct part_of_row {
        const byte* from;  // aligned
        unsigned past;     // bytes of its first word that are not the thread's

        __device__ __forceinline__ void begin_at(const byte* address) {
            past = kShifted ? static_cast<unsigned>(past_word(address)) : 0;
            from = kept_pointer(address - past);
        }
        __device__ __forceinline__ void load(word (&raw)[kRaw]) const {
            CORNERTURN_UNROLL
            for (int k = 0; k < kRaw; ++k) raw[k] = load_kept(reinterpret_cast<const word*>(from) + k);
        }
        __device__ __forceinline__ word shifted(const word (&raw)[kRaw], int k) const {
            if constexpr (kShifted) {
                return __funnelshift_r(raw[k], raw[k + 1], 8 * past);
            } else {
                return raw[k];
            }
        }
    };

    // What a thread reads around its words, and where the last byte lies.
    static constexpr int kBefore = kShifted ? 3 : 0, kThrough = kWidth + (kShifted ? 4 : 0);

    // Stages the tile whose first row is `row`, and whose first column lies `col` bytes into it.
    static __device__ __forceinline__ void load(const unit_work& work, const unit_cut& cut, const byte* matrix,
                                                std::int64_t row, int col, byte* tile) {
        const unsigned group = divided(threadIdx.x, cut.per_across), lane = threadIdx.x - group * cut.across;
        const int in_row = col + static_cast<int>(lane) * kWidth, down = cut.at_once * kRows * cut.element;
        if (group >= static_cast<unsigned>(cut.at_once) || in_row >= work.length) return;
        row += group * kRows;
        place places(cut, lane, group, tile);
        // All that is there, and what is read around it, are elements of the matrix, and not a gap.
        const std::int64_t first = row * work.from_pitch + in_row;
        const bool in_gaps = !work.dense && (in_row < kBefore || in_row + kThrough > work.length);
        if (first >= kBefore && first + work.reach <= work.size && !in_gaps) {
            part_of_row parts[kRows];
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) parts[r].begin_at(matrix + first + r * work.from_pitch);
            CORNERTURN_UNROLL_BY(1)
            for (int i = kAtOnce; i <= cut.turns; i += kAtOnce) move<kAtOnce>(parts, work.step, places, down);
            if constexpr (kAtOnce == 8) {
                if ((cut.turns & 4) != 0) move<4>(parts, work.step, places, down);
                if ((cut.turns & 2) != 0) move<2>(parts, work.step, places, down);
                if ((cut.turns & 1) != 0) move<1>(parts, work.step, places, down);
            }
            return;
        }
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < cut.turns; ++i) {
            CORNERTURN_UNROLL_BY(1)
            for (int r = 0; r < kRows; ++r) {
                const bool there = row + r >= 0 && row + r < work.rows;
                const byte* const line = matrix + (row + r) * work.from_pitch;
                word words[kWords];
                CORNERTURN_UNROLL
                for (int k = 0; k < kWords; ++k) {
                    words[k] = {};
                    if (there && in_row + k * kWord < work.length)
                        words[k] = load_word_within<kUnit>(line + in_row + k * kWord, line, line + work.length);
                }
                places.stage_row(words, r * kUnit * kUnits);
            }
            places.step(down);
            row += cut.at_once * kRows;
        }
    }

    // Loads so many groups, and stages them.
    template <int kGroups>
    static __device__ __forceinline__ void move(part_of_row (&parts)[kRows], std::int64_t step, place& places,
                                                int down) {
        word raw[kGroups][kRows][kRaw];
        CORNERTURN_UNROLL
        for (int g = 0; g < kGroups; ++g) {
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) {
                parts[r].load(raw[g][r]);
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
            places.stage(words, g * down);
        }
        places.step(kGroups * down);
    }

    // Reads vectors of a column, so far apart that they begin alike within words.
    struct column_reader {
        const byte* from;     // aligned
        int past, last_word;  // what `from` is before the vector, and the word of its last byte behind `from`

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
                raw[4] = value_at<unsigned>(from + last_word);  // the fourth again, where no fifth is needed
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

    // Writes the tile: its rows from `row` on, of which the first is at `line` in its first column's row of the
    // destination, and `cols` of its columns or all of them.
    static __device__ __forceinline__ void store(const unit_work& work, const unit_cut& cut, byte* line,
                                                 std::int64_t row, std::int64_t cols, const byte* tile) {
        const std::int64_t rows = work.rows - row;
        const unsigned cols_here = static_cast<unsigned>(cols < cut.cols ? cols : cut.cols);
        const bool last = rows <= cut.moved;
        const int bytes = (last ? static_cast<int>(rows) : cut.moved) * cut.element, begin = row == 0 ? 0 : -kSector;
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const unsigned vector = (warp >> cut.warps_log << cut.lanes_log) + (lane & ((1u << cut.lanes_log) - 1));
        const int step = cut.phases << cut.lanes_log << 4;
        // Lanes beside each other take columns of lanes beside each other.
        const unsigned turns_log = 5 - cut.lanes_log, near_log = cut.near_log;
        const unsigned t = ((warp & ((1u << cut.warps_log) - 1)) << turns_log) + (lane >> cut.lanes_log);
        const unsigned of_lane = t >> near_log & (kRows - 1);
        const unsigned at_lane = (t >> near_log) / kRows << near_log | (t & ((1u << near_log) - 1));
        const unsigned cols_step = 1u << (cut.warps_log + turns_log);
        const int column_step = static_cast<int>(cols_step / kRows) * cut.from_lane;
        unsigned c = at_lane * kRows + of_lane;
        byte* to = line + c * work.to_pitch;
        const byte* column = tile + address(cut, at_lane, of_lane) + cut.back * cut.element;
        CORNERTURN_UNROLL_BY(1)
        for (; c < cols_here; c += cols_step) {
            const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % kSector);
            const int end = last ? bytes : bytes - (past + bytes) % kSector;
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

    // What of a vector lies in [begin, end) of it.
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

template <int kUnit, int kUnits, bool kShifted>
__global__ void CORNERTURN_RESIDENT(kMostThreads, (unit_tile<kUnit, kUnits, kShifted>::kResident))
    transpose_units(unit_work work, unit_cut cut) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    CORNERTURN_DYNAMIC_SHARED(byte, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * cut.moved, col = index.col * cut.cols, matrix = blockIdx.z;
    tiles::load(work, cut, work.source + matrix * work.from_stride, row - cut.back, static_cast<int>(col) * cut.element,
                tile);
    __syncthreads();
    tiles::store(work, cut, work.destination + matrix * work.to_stride + col * work.to_pitch + row * cut.element, row,
                 work.cols - col, tile);
}

constexpr int round_up(int value, int step) { return (value + step - 1) / step * step; }
constexpr int divided_up(int value, int by) { return (value + by - 1) / by; }

// For tiles of about tile_bytes, whose rows have about row_bytes.
template <class Tiles, int kUnit>
struct unit_cutter {
    static constexpr int kPeriod = kUnit < 4 ? 4 / kUnit : 1;  // rows that have whole words
    const matrix_work& work;
    const bool whole_sectors;  // every row of the destination begins at one
    const int element = work.element_size, units = element / kUnit;
    // Columns of a tile at most, bytes of it, and threads: docs/experiments.md has what was tried.
    const int most_cols = !Tiles::kTurned ? 400 / element : element == 3 && whole_sectors ? 128 : 64;
    const int tile_bytes = (Tiles::kTurned ? 24 : kUnit < 4 ? 20 : 13) << 10;
    const int most_threads = kUnit < 4 && !Tiles::kTurned ? 384 : 256;
    // Rows and columns of the matrix, or so many that it is large.
    const int rows = static_cast<int>(work.rows < tile_bytes ? work.rows : tile_bytes);

    int lanes_of(int cols) const { return divided_up(cols * element, Tiles::kWidth); }

    unit_cut cut() const {
        const int step = Tiles::kTurned ? 1 : kPeriod;  // of rows, or groups, that are read at once
        unit_cut any{};
        any.element = element;
        any.per_element = reciprocal(static_cast<unsigned>(units));
        // Columns: a power of two, so many that rows are long, and more where there are few of them.
        any.cols = kPeriod;
        while (any.cols < work.cols && lanes_of(2 * any.cols) * step <= most_threads &&
               (2 * any.cols <= most_cols || 2 * any.cols * rows * element <= tile_bytes))
            any.cols *= 2;
        any.across = lanes_of(any.cols);
        any.per_across = reciprocal(static_cast<unsigned>(any.across));
        // Threads: as many as move the most bytes for each that they might, in tiles that are not too large.
        unit_cut best{};
        std::int64_t most = -1;
        for (int at_once = step; at_once == step || at_once * any.across <= most_threads; at_once += step) {
            unit_cut next = any;
            next.at_once = at_once;
            next.threads = round_up(at_once * any.across, 32);
            finish(next);
            const std::int64_t loads = next.turns * Tiles::kRows * Tiles::kWidth;
            const std::int64_t stores =
                divided_up(next.cols, 32 >> next.lanes_log << next.warps_log) *
                divided_up(divided_up(next.moved * element, kVectorBytes << next.lanes_log), next.phases) *
                kVectorBytes;
            const int busy = next.threads < kThreads ? next.threads : kThreads;
            const int fitting = next.bytes < tile_bytes * 5 / 4 ? next.bytes : tile_bytes * 5 / 4;
            const std::int64_t use = std::int64_t{next.moved} * any.cols * element * busy * fitting /
                                     (next.threads * (loads + stores)) * 1000 / next.bytes;
            if (use > most) most = use, best = next;
        }
        return best;
    }

    // All that follows from the number of rows that are read at once.
    void finish(unit_cut& next) const {
        const int at_once = next.at_once * Tiles::kRows,
                  whole = whole_sectors ? divided_up(kSector, element & -element) : 1;
        // As near to tile_bytes as whole turns come.
        const int wanted = (tile_bytes / (next.cols * element) + at_once / 2) / at_once * at_once;
        // Before the first row that is moved lies what the first word of a sector may need.
        const int back = whole_sectors ? 0 : round_up(divided_up(kSector - kUnit, element), kPeriod);
        const int staged_most = round_up(wanted > back + whole ? wanted : back + whole, at_once);
        next.back = rows <= staged_most ? 0 : back;  // 0: one tile has all rows
        // Tiles of about the same size, where sectors begin where tiles do.
        const int tiles = divided_up(rows, staged_most - next.back);
        const int moved = tiles == 1 ? rows : round_up(divided_up(rows, tiles), whole);
        next.turns = divided_up(moved + next.back, at_once);
        const int staged = next.turns * at_once;
        next.moved = staged - next.back;
        if (next.moved < rows) next.moved -= next.moved % whole;
        // Columns lie an odd number of words apart, and as their words do in a row of the source.
        if constexpr (Tiles::kTurned) {
            next.from_lane = (staged * element / 4 | 1) * 4;
            next.from_col = next.across * next.from_lane;
        } else {
            constexpr int kBanks = 128 / Tiles::kWord;
            const int words = divided_up(staged * element, Tiles::kWord),
                      odd = element % Tiles::kWord == 0 ? (element / Tiles::kWord | 1) % kBanks : 1;
            next.from_lane = (words + (odd - words % kBanks + kBanks) % kBanks) * Tiles::kWord;
        }
        next.bytes = next.cols * next.from_lane;
        const int vectors = divided_up(next.moved * element + (whole_sectors ? 0 : kSector), kVectorBytes);
        next.lanes_log = 0;
        while (next.lanes_log < 3 && 1 << next.lanes_log < vectors) ++next.lanes_log;
        const int warps = next.threads / 32, cols_at_once = 32 >> next.lanes_log;
        next.warps_log = 0;
        while (cols_at_once << next.warps_log < next.cols && warps % (2 << next.warps_log) == 0) ++next.warps_log;
        next.phases = warps >> next.warps_log;
        // A thread's columns are those of the same place in other lanes.
        const int lanes = (cols_at_once << next.warps_log) / Tiles::kRows;
        next.near_log = 0;
        while (next.near_log < 2 && 2 << next.near_log <= lanes && 2 << next.near_log <= next.cols / Tiles::kRows)
            ++next.near_log;
    }
};

// Whether every row of the destination begins at a sector.
bool has_whole_sectors(const matrix_work& work) {
    const auto bits = reinterpret_cast<std::uintptr_t>(work.destination) |
                      static_cast<std::uintptr_t>(work.destination_ld * work.element_size) |
                      static_cast<std::uintptr_t>(work.count > 1 ? work.destination_stride * work.element_size : 0);
    return bits % kSector == 0;
}
// Whether every row of the source begins at a word.
bool has_whole_words(const matrix_work& work) {
    const auto bits = reinterpret_cast<std::uintptr_t>(work.source) |
                      static_cast<std::uintptr_t>(work.source_ld * work.element_size) |
                      static_cast<std::uintptr_t>(work.count > 1 ? work.source_stride * work.element_size : 0);
    return bits % 4 == 0;
}

template <int kUnit, int kUnits, bool kShifted>
void run_tiles(const matrix_work& work) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    const unit_cut cut = unit_cutter<tiles, kUnit>{work, has_whole_sectors(work)}.cut();
    for_each_slab<column_major, operation::transpose>(
        work, {cut.moved, cut.cols}, dim3(cut.threads), [&](launch_shape shape, const matrix_work& part) {
            const std::int64_t element = cut.element, pitch = part.source_ld * element, length = part.cols * element;
            const std::int64_t step = cut.at_once * tiles::kRows * pitch;
            const unit_work bytes{static_cast<const byte*>(part.source),
                                  static_cast<byte*>(part.destination),
                                  part.rows,
                                  part.cols,
                                  pitch,
                                  part.destination_ld * element,
                                  part.source_stride * element,
                                  part.destination_stride * element,
                                  (part.rows - 1) * pitch + length,
                                  step,
                                  (cut.turns - 1) * step + (tiles::kRows - 1) * pitch + tiles::kThrough,
                                  (std::int64_t{32} >> cut.lanes_log << cut.warps_log) * part.destination_ld * element,
                                  static_cast<int>(length),
                                  pitch == length};
            shape.dynamic_shared_bytes = static_cast<std::size_t>(cut.bytes);
            shape.tiles = nullptr;  // what a tile reads depends on what lies around it
            launch(shape, transpose_units<kUnit, kUnits, kShifted>, bytes, cut);
        });
}

template <int kUnit>
void run_units(const matrix_work& work) {
    if constexpr (kUnit < 4) {
        switch (work.element_size / kUnit) {
            case 3: return has_whole_words(work) ? run_tiles<kUnit, 3, false>(work) : run_tiles<kUnit, 3, true>(work);
            case 5: return run_tiles<kUnit, 5, true>(work);
            case 7: return run_tiles<kUnit, 7, true>(work);
            default: return run_tiles<kUnit, 0, true>(work);
        }
    } else {
        return run_tiles<kUnit, 0, false>(work);
    }
}

// A block copies tile_rows elements of one column.
template <int kUnit>
__global__ void __launch_bounds__(kThreads) transpose_blocks(matrix_work work, unsigned units, unsigned tile_rows) {
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tile_rows, col = index.col, matrix = blockIdx.z, n = units;
    using unit = storage_t<kUnit>;
    const unit* const source =
        static_cast<const unit*>(work.source) + (matrix * work.source_stride + row * work.source_ld + col) * n;
    unit* const destination =
        static_cast<unit*>(work.destination) + (matrix * work.destination_stride + col * work.destination_ld + row) * n;
    const std::int64_t rows = work.rows - row < tile_rows ? work.rows - row : tile_rows;
    CORNERTURN_UNROLL_BY(4)
    for (unsigned i = threadIdx.x; i < rows * units; i += kThreads) {
        const unsigned r = i / units;
        destination[i] = source[(r * work.source_ld - r) * n + i];
    }
}

template <int kUnit>
void run_blocks(const matrix_work& work) {
    const auto units = static_cast<unsigned>(work.element_size / kUnit);
    const unsigned tile_rows = units < 4 * kThreads ? 4 * kThreads / units : 1;
    for_each_slab<column_major, operation::transpose>(
        work, {tile_rows, 1}, dim3(kThreads), [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, transpose_blocks<kUnit>, part, units, tile_rows);
        });
}

template <int kUnit>
constexpr production_kernel units() {
    return {{path::units, kUnit, 0, 0, kThreads}, &run_units<kUnit>};
}
template <int kUnit>
constexpr production_kernel blocks() {
    return {{path::blocks, kUnit, 0, 0, kThreads}, &run_blocks<kUnit>};
}

constexpr production_kernel kKernels[] = {
    units<1>(),  units<2>(),  units<4>(),  units<8>(),  units<16>(),
    blocks<1>(), blocks<2>(), blocks<4>(), blocks<8>(), blocks<16>(),
};

}  // namespace

production_kernels unit_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
