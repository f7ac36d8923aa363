// Tiles of any alignment, for elements narrower than a word.
//
// Reads: neighbouring threads load neighbouring aligned pairs of words. Each gets the words after its own from the next
// thread, and shifts neighbouring words into one. A group is as many rows as a word has elements. In all groups of a
// thread, row r begins at the same position in a pair, so the thread computes this once. All of its loads are in flight
// at once. It transposes the words of a group into words of columns in registers, and stages these column by column.
//
// Writes: aligned vectors of 16 bytes, and whole sectors (32 bytes), because a sector that two blocks write in part
// costs twice. The rows of the destination begin at different positions in a sector, so the columns of a tile end at
// different rows. A tile therefore holds more rows than it moves: as many more as fill one sector. The next tile begins
// with the rows that this one leaves. The columns of a thread are so far apart that their rows of the destination begin
// at the same position in a sector. So a thread reads words at constant distances in shared memory.
//
// Few blocks are at an edge, but they end last. As far as possible they run the code of all others: code that is not in
// the instruction cache must be fetched, and the fetch waits until earlier loads of data are done.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Rows and columns of tiles.
struct tile_range {
    unsigned first_row, rows, first_col, cols;

    tile_range(std::int64_t row, std::int64_t end_row, std::int64_t col, std::int64_t end_col)
        : first_row(static_cast<unsigned>(row)),
          rows(end_row > row ? static_cast<unsigned>(end_row - row) : 0),
          first_col(static_cast<unsigned>(col)),
          cols(end_col > col ? static_cast<unsigned>(end_col - col) : 0) {}
    __device__ __forceinline__ bool has(unsigned row, unsigned col) const {
        return row - first_row < rows && col - first_col < cols;
    }
};

// kColBytes: bytes of a row of the destination in a tile. kLanes: threads across a row of the source. kShared: each
// thread gets the words after its pair from the next thread, so the last thread's pair is only read, not moved.
// Otherwise each thread loads three words, and a tile is as wide as all pairs: for matrices of exactly that width.
template <int kElement, int kColBytes, int kLanes, int kThreads, bool kShared>
struct byte_tile {
    static_assert(kElement < 4);
    using element = storage_t<kElement>;
    static constexpr int kWord = 4;                              // bytes
    static constexpr int kPerWord = kElementsPerWord<kElement>;  // this is also the number of rows in a group
    static constexpr int kRows = kColBytes / kElement, kBack = kSectorBytes / kElement, kMoved = kRows - kBack;
    static constexpr int kGroups = kColBytes / kWord,
                         kVectors = (kColBytes - kSectorBytes) / kVectorBytes;  // of a column
    // A thread makes a pair of words of a row: from its own pair and the next lane's, or from three words.
    static constexpr int kPair = 2 * kWord, kColsOfPair = 2 * kPerWord, kHeld = kLanes * kColsOfPair;
    static constexpr int kCols = kShared ? kHeld - kColsOfPair : kHeld, kRaw = kShared ? 2 : 3;
    static constexpr int kReach = kShared ? kHeld : kHeld + kPerWord;  // columns that a tile may read
    static constexpr std::int64_t kAll = kMaxGridY;                    // columns of tiles that a grid can have

    // Reading: a warp has the words of kGroupsOfWarp groups. If the rows in a tile are shorter than a line of memory,
    // these groups follow each other, so that a warp reads neighbouring rows. Otherwise they are so far apart that the
    // warp writes to all banks.
    static constexpr int kGroupsAtOnce = kThreads / kLanes, kLoads = kGroups / kGroupsAtOnce;
    static constexpr int kGroupsOfWarp = 32 / kLanes, kApart = kLanes * kPair * kPerWord < 128 ? 1 : kLanes;
    static_assert(kGroupsAtOnce * kLanes == kThreads && kLoads * kGroupsAtOnce == kGroups);
    static_assert(kGroupsOfWarp == 1 || (kThreads / 32 % kApart == 0 && kGroupsAtOnce % (kApart * kGroupsOfWarp) == 0));
    static_assert(kGroupsAtOnce * kPerWord * kElement % kPair == 0, "a thread's rows begin alike");

    // In shared memory, word g of column `in_pair` of pair `p` is at kFromPair * p + kFromCol * in_pair + g. The
    // distance between pairs is odd. So a warp that writes words of one column of each pair has few bank conflicts or
    // none. The same holds when it reads vectors of one column from each of four neighbouring pairs, at any alignment
    // in the destination.
    static constexpr int kFromPair = (kApart == 1 ? kGroups + kGroupsOfWarp : kGroups) | 1;
    static constexpr int kFromCol = kLanes * kFromPair;
    static constexpr int kBytes = kFromCol * kColsOfPair * kWord;

    // Writing: eight neighbouring threads have the vectors of one column. The next eight have a column of another pair.
    static constexpr int kColsAtOnce = kThreads / 8 < kHeld ? kThreads / 8 : kHeld;
    static constexpr int kVectorsAtOnce = kThreads / kColsAtOnce;
    static constexpr int kNeighbours = kLanes < 4 ? kLanes : 4;
    static constexpr int kStores = kHeld / kColsAtOnce, kIterations = (kVectors + kVectorsAtOnce - 1) / kVectorsAtOnce;
    static_assert(kVectorsAtOnce % 8 == 0 && kStores * kColsAtOnce == kHeld);
    static_assert(kColsAtOnce % (kNeighbours * kColsOfPair) == 0);
    static_assert(kStores == 1 || kColsAtOnce * kElement % kSectorBytes == 0, "a thread's columns begin alike");

    // The tile at (`row`, `col`) of a rows x cols matrix.
    struct tile_source {
        const byte* matrix;
        std::int64_t pitch, row, col, rows, cols;
        read_policy read;
    };

    // The words that a thread reads.
    struct words_of_rows {
        unsigned lane, group;
        unsigned past[kPerWord];  // bytes from an aligned address to where the rows begin
        unsigned raw[kLoads][kPerWord][kRaw];

        // kInside: all of the tile exists, and so do the words around it. Otherwise, words that are not wholly inside a
        // row become 0.
        template <bool kInside>
        __device__ __forceinline__ void load(const tile_source& from) {
            const unsigned warp = threadIdx.x / 32, part = threadIdx.x % 32 / kLanes;
            lane = threadIdx.x % kLanes;
            group =
                kGroupsOfWarp == 1 ? warp : warp / kApart * (kApart * kGroupsOfWarp) + warp % kApart + part * kApart;
            const byte* const first = from.matrix + (from.row + group * kPerWord) * from.pitch + from.col * kElement;

            constexpr std::int64_t kMost = kHeld + kColsOfPair;
            const int begin = from.col == 0 ? 0 : -kPair;
            const int end = static_cast<int>(from.cols - from.col < kMost ? from.cols - from.col : kMost) * kElement;
            const int first_row = from.row < 0 ? static_cast<int>(-from.row) : 0;
            const std::int64_t end_row = from.rows - from.row < kRows ? from.rows - from.row : kRows;
            const unsigned rows = static_cast<unsigned>(end_row) - first_row;
            CORNERTURN_UNROLL
            for (int r = 0; r < kPerWord; ++r) {
                const byte* line = first + r * from.pitch;
                past[r] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line)) % (kShared ? kPair : kWord);
                const int at = static_cast<int>(lane * kPair) - static_cast<int>(past[r]);
                line += at;
                CORNERTURN_UNROLL
                for (int i = 0; i < kLoads; ++i) {
                    const unsigned* const words = reinterpret_cast<const unsigned*>(line);
                    const bool there = (i * kGroupsAtOnce + group) * kPerWord + r - first_row < rows;
                    if constexpr (kInside && kShared) {
                        const auto* const address = reinterpret_cast<const uint2*>(words);
                        const uint2 pair = kLanes == 32 ? from.read.load_line(address) : from.read.load(address);
                        raw[i][r][0] = pair.x;
                        raw[i][r][1] = pair.y;
                    } else {
                        CORNERTURN_UNROLL
                        for (int k = 0; k < kRaw; ++k) {
                            const bool whole = at + k * kWord >= begin && at + (k + 1) * kWord <= end;
                            raw[i][r][k] =
                                kInside ? from.read.load(words + k) : from.read.load_if(there && whole, words + k);
                        }
                    }
                    line += kGroupsAtOnce * kPerWord * from.pitch;
                }
            }
        }

        __device__ __forceinline__ void stage(unsigned* tile) const {
            tile += lane * kFromPair + group;
            CORNERTURN_UNROLL
            for (int i = 0; i < kLoads; ++i) {
                unsigned words[2][kPerWord];
                CORNERTURN_UNROLL
                for (int r = 0; r < kPerWord; ++r) {
                    unsigned low = raw[i][r][0], middle = raw[i][r][1], high = raw[i][r][kRaw - 1];
                    if constexpr (kShared) {
                        const bool second = past[r] >= kWord;  // the row begins in the pair's second word
                        const unsigned first = low;
                        low = second ? middle : first;
                        middle = second ? first : middle;
                        const unsigned next = of_next_lane(middle);
                        middle = second ? next : middle;
                        high = of_next_lane(low);
                    }
                    words[0][r] = __funnelshift_r(low, middle, 8 * past[r]);
                    words[1][r] = __funnelshift_r(middle, high, 8 * past[r]);
                }
                CORNERTURN_UNROLL
                for (int k = 0; k < 2; ++k) {
                    unsigned columns[kPerWord];
                    transpose_words<kElement>(words[k], columns);
                    CORNERTURN_UNROLL
                    for (int c = 0; c < kPerWord; ++c)
                        tile[i * kGroupsAtOnce + (k * kPerWord + c) * kFromCol] = columns[c];
                }
            }
        }

    private:
        __device__ __forceinline__ unsigned of_next_lane(unsigned word) const {
            return __shfl_sync(0xffffffffu, word, static_cast<int>(lane + 1), kLanes);
        }
    };

    // The first and the last elements of rows. They may share their words with elements outside the row, so they are
    // loaded by themselves. A thread moves them in rounds: each round as many as fit in registers beside its words.
    struct ends_of_rows {
        static constexpr int kEnd = kPerWord - 1, kAll = (kRows * 2 * kEnd + kThreads - 1) / kThreads;
        static constexpr int kAtOnce = kAll < 4 ? kAll : 4, kRounds = (kAll + kAtOnce - 1) / kAtOnce;
        element values[kAtOnce];

        __device__ __forceinline__ void load(const tile_source& from, int round) {
            each(from, round, [&](element& value, int r, int c) {
                value = value_at<element>(from.matrix + (from.row + r) * from.pitch + (from.col + c) * kElement);
            });
        }
        __device__ __forceinline__ void stage(const tile_source& from, int round, unsigned* tile) {
            each(from, round, [&](element value, int r, int c) {
                unsigned* const column = tile + c / kColsOfPair * kFromPair + c % kColsOfPair * kFromCol;
                reinterpret_cast<element*>(column)[r] = value;
            });
        }

    private:
        template <class F>
        __device__ __forceinline__ void each(const tile_source& from, int round, F move) {
            constexpr std::int64_t kMost = kCols + kEnd;
            const int left = static_cast<int>(from.cols - from.col < kMost ? from.cols - from.col : kMost);
            const int begun = from.col == 0 ? kEnd : 0;
            CORNERTURN_UNROLL
            for (int i = 0; i < kAtOnce; ++i) {
                const int item = static_cast<int>(threadIdx.x) + (round * kAtOnce + i) * kThreads;
                const int r = item % kRows, k = item / kRows, c = k < kEnd ? k : left - 1 - (k - kEnd);
                const bool end = k < kEnd ? c < begun : c >= begun && k < 2 * kEnd;
                if (end && c < kCols && c < left && from.row + r >= 0 && from.row + r < from.rows)
                    move(values[i], r, c);
            }
        }
    };

    // Stages the tile. The caller adds the barrier.
    static __device__ __forceinline__ void load(const tile_source& from, bool inside, unsigned* tile) {
        words_of_rows words;
        ends_of_rows ends;
        // If the columns are inside the matrix, all their words are whole.
        const bool with_ends = !inside && (from.col == 0 || from.cols - from.col < kReach);
        if (inside) {
            words.template load<true>(from);
        } else {
            if (with_ends) ends.load(from, 0);
            words.template load<false>(from);
        }
        words.stage(tile);
        if (!with_ends) return;
        __syncthreads();
        ends.stage(from, 0, tile);
        CORNERTURN_UNROLL_BY(1)
        for (int round = 1; round < ends_of_rows::kRounds; ++round) {
            ends.load(from, round);
            ends.stage(from, round, tile);
        }
    }

    // Where a tile is written. `line` is the address of row kBack of its first column in the destination, and that row
    // is number `row` of `rows` there. The first `cols` columns of the tile exist.
    struct target {
        byte* line;
        std::int64_t pitch, row, rows, cols;
    };

    // Writes the vectors that rows of the destination fill.
    static __device__ __forceinline__ void store(const target& to, const unsigned* tile, result_policy result) {
        const unsigned part = threadIdx.x / 8, ordinal = part % kColsAtOnce;
        const unsigned vector = threadIdx.x % 8 + part / kColsAtOnce * 8;
        const unsigned pair = ordinal % kNeighbours + ordinal / (kNeighbours * kColsOfPair) * kNeighbours;
        const unsigned in_pair = ordinal / kNeighbours % kColsOfPair, col = pair * kColsOfPair + in_pair;
        byte* line = to.line + col * to.pitch;
        const unsigned past = past_sector(line), shift = 8 * past;
        line += static_cast<int>(vector * kVectorBytes) - static_cast<int>(past);
        const std::int64_t row =
            to.row + static_cast<std::int64_t>(vector * (kVectorBytes / kElement)) - past / kElement;
        // raw[1] below is the first word that begins inside the vector. If the vector begins inside a word, its first
        // bytes come from that word, raw[0].
        tile += pair * kFromPair + in_pair * kFromCol + (kSectorBytes - past + 3) / kWord - 1 + vector * 4;
        int left = (to.cols < kCols ? static_cast<int>(to.cols) : kCols) - static_cast<int>(col);
        CORNERTURN_UNROLL
        for (int i = 0; i < kStores; ++i) {
            CORNERTURN_UNROLL
            for (int t = 0; t < kIterations; ++t) {
                if ((t + 1) * kVectorsAtOnce > kVectors && vector + t * kVectorsAtOnce >= kVectors) break;
                const std::int64_t at = row + t * (kVectorsAtOnce * kVectorBytes / kElement);
                unsigned raw[5], words[4];
                CORNERTURN_UNROLL
                for (int k = 0; k < 5; ++k) raw[k] = tile[t * (4 * kVectorsAtOnce) + k];
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k) words[k] = __funnelshift_l(raw[k], raw[k + 1], shift);
                // The check is here so that only the store waits for it.
                if (left > 0 && at >= 0 && at + kVectorBytes / kElement <= to.rows) {
                    result.store(reinterpret_cast<uint4*>(line + t * (kVectorsAtOnce * kVectorBytes)),
                                 make_uint4(words[0], words[1], words[2], words[3]));
                }
            }
            line += kColsAtOnce * to.pitch;
            tile += kColsAtOnce / kColsOfPair * kFromPair;
            left -= kColsAtOnce;
        }
    }

    // Writes the first and last vectors of the destination's rows, where the rows fill them only in part. Each thread
    // writes one element of a column. Its columns are so far apart that the position is the same in all of them.
    static __device__ __forceinline__ void store_ends(const target& to, const unsigned* tile) {
        constexpr int kOfVector = kVectorBytes / kElement, kAtOnce = kThreads / kOfVector;
        constexpr int kStep = kAtOnce > kBack ? kAtOnce : kBack;
        static_assert(kStep % kBack == 0 && kStep % kColsOfPair == 0 && kStep % kAtOnce == 0);
        const int in_vector = static_cast<int>(threadIdx.x) % kOfVector;
        const int cols = to.cols < kCols ? static_cast<int>(to.cols) : kCols;
        CORNERTURN_UNROLL_BY(1)
        for (int first = static_cast<int>(threadIdx.x) / kOfVector; first < kStep && first < cols; first += kAtOnce) {
            byte* const line = to.line + first * to.pitch;
            const int past = static_cast<int>(past_sector(line)) / kElement;
            const unsigned* const column = tile + first / kColsOfPair * kFromPair + first % kColsOfPair * kFromCol;
            const std::int64_t last = (to.rows - to.row + past) / kOfVector;
            // Not unrolled: short code is fetched sooner.
            CORNERTURN_UNROLL_BY(1)
            for (int end = 0; end < 2; ++end) {
                const std::int64_t vector = end > 0 ? last : past / kOfVector;
                if (end > 0 ? last >= kVectors : to.row != 0 || past % kOfVector == 0 || vector == last) continue;
                const int at = static_cast<int>(vector) * kOfVector + in_vector - past;
                if (to.row + at < 0 || to.row + at >= to.rows) continue;
                byte* address = line + at * kElement;
                const unsigned* word = column;
                CORNERTURN_UNROLL_BY(1)
                for (int col = first; col < cols; col += kStep) {
                    *reinterpret_cast<element*>(address) = reinterpret_cast<const element*>(word)[kBack + at];
                    address += kStep * to.pitch;
                    word += kStep / kColsOfPair * kFromPair;
                }
            }
        }
    }
    static __device__ __forceinline__ unsigned past_sector(const byte* address) {
        return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address)) % kSectorBytes;
    }

    // The tiles for which all words that are read, those around the tile included, lie in the matrix and not in a gap.
    // Tile (i, j) holds the rows from i * kMoved - kBack on.
    static_assert(kMoved - kBack >= kColsOfPair, "so many rows, of a column or more, lie before tile (1, 0)");
    static tile_range readable(const moves::matrices_work& work) {
        if (work.source_ld > work.cols) return {1, work.rows / kMoved, 1, (work.cols - kReach + kCols) / kCols};
        const std::int64_t rows_beyond = (kHeld + kColsOfPair + work.cols - 1) / work.cols;
        return {1, (work.rows - rows_beyond) / kMoved, 0, kAll};
    }
    // The tiles whose rows all exist. For these, store_ends() has nothing to write.
    static tile_range writable(const moves::matrices_work& work) { return {1, work.rows / kMoved, 0, kAll}; }
};

template <int kElement, int kColBytes, int kLanes, int kThreads, int kResident, bool kShared>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident)
    transpose_ragged_bytes(moves::matrices_work work, tile_range readable, tile_range writable, result_policy result) {
    using tiles = byte_tile<kElement, kColBytes, kLanes, kThreads, kShared>;
    CORNERTURN_DYNAMIC_SHARED(unsigned, tile);
    const unsigned tile_row = blockIdx.x, tile_col = blockIdx.y;  // as in column_major
    const std::int64_t row = std::int64_t{tile_row} * tiles::kMoved;
    const place_of_matrix matrix(work);
    const std::int64_t col = tile_col * static_cast<unsigned>(tiles::kCols);
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix.source * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix.destination * kElement;

    tiles::load({source, from_pitch, row - tiles::kBack, col, work.rows, work.cols, read_policy(work.keeps_lines)},
                readable.has(tile_row, tile_col), tile);
    __syncthreads();
    const typename tiles::target to{destination + col * to_pitch + row * kElement, to_pitch, row, work.rows,
                                    work.cols - col};
    tiles::store(to, tile, result);
    if (!writable.has(tile_row, tile_col)) tiles::store_ends(to, tile);
}

template <int kElement, int kColBytes, int kLanes, int kThreads, int kResident, bool kShared>
void run(const moves::matrices_work& work, const gpu& on) {
    using tiles = byte_tile<kElement, kColBytes, kLanes, kThreads, kShared>;
    for_each_slab<column_major, slab_order::transposed>(
        work, {tiles::kMoved, tiles::kCols, tiles::kBack}, dim3(kThreads),
        [&](launch_shape shape, const moves::matrices_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            launch(shape, transpose_ragged_bytes<kElement, kColBytes, kLanes, kThreads, kResident, kShared>, part,
                   tiles::readable(part), tiles::writable(part), policy_for(part, on));
        });
}

struct ragged_bytes_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kRagged[kRow];
        constexpr int kElement = kUse.unit, kCols = kUse.tile_cols, kThreads = kUse.threads;
        if constexpr (kElement >= 4) {
            return nullptr;  // it is in ragged.cu
        } else {
            constexpr bool kShared = (kCols & (kCols - 1)) != 0;
            constexpr int kColsOfPair = 2 * kElementsPerWord<kElement>,
                          kLanes = kCols / kColsOfPair + (kShared ? 1 : 0);
            constexpr int kColBytes = kUse.tile_rows * kElement + kSectorBytes;
            static_assert(byte_tile<kElement, kColBytes, kLanes, kThreads, kShared>::kCols == kCols);
            return &run<kElement, kColBytes, kLanes, kThreads, kUse.detail, kShared>;
        }
    }
};

}  // namespace

run_work ragged_bytes_kernel(int row) { return kernel_of_row<ragged_bytes_rows>(row, moves::kRagged); }

}  // namespace CORNERTURN_KERNELS
