// Tiles of any alignment, for elements narrower than a word, where what limits is the number of instructions.
//
// Reads: a thread takes a few words' width of as many rows as a word has elements. Rows begin anywhere: one aligned
// word more than the width is loaded, and two that follow each other are shifted into one. Where a row begins within a
// word is the same in every group of rows, so a thread works that out once.
//
// A group's words are turned into words of columns in registers, and these are staged column by column.
//
// Writes: vectors of 16 bytes that are aligned in memory, and whole sectors (32 bytes), since a sector that two blocks
// write in part costs twice. Each row of the destination begins elsewhere within a sector, so each column of the tile
// ends elsewhere: a tile holds one sector's rows more than it moves, and what it leaves at its end the next tile begins
// with. A thread's columns are so far apart that their rows of the destination begin alike, and what it reads from
// shared memory are words at constant distances.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

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

// kRowBytes: the tile's part of a row of the source. kColBytes: what it holds of a row of the destination. kWords: what
// a thread takes of a row.
template <int kElement, int kColBytes, int kRowBytes, int kWords, int kThreads>
struct byte_tile {
    static_assert(kElement < 4);
    static constexpr int kSector = 32, kWord = 4;                // bytes
    static constexpr int kPerWord = kElementsPerWord<kElement>;  // and rows of a group
    static constexpr int kRows = kColBytes / kElement, kCols = kRowBytes / kElement;
    static constexpr int kBack = kSector / kElement, kMoved = kRows - kBack;                            // rows
    static constexpr int kGroups = kColBytes / kWord, kVectors = (kColBytes - kSector) / kVectorBytes;  // of a column

    // Reading: lane `l` of those across a row has columns l * kColsPerLane and on.
    static constexpr int kLanes = kRowBytes / (kWords * kWord), kColsPerLane = kWords * kPerWord;
    static constexpr int kGroupsAtOnce = kThreads / kLanes, kLoads = kGroups / kGroupsAtOnce;
    static_assert(kLanes * kGroupsAtOnce == kThreads && kLoads * kGroupsAtOnce == kGroups);

    // Word g of column c, in shared memory, is kFromCol * (c % kColsPerLane) + kFromLane * (c / kColsPerLane) + g. The
    // distance between lanes is odd: neither the lanes across a row nor, reading vectors' words, four columns as far
    // apart as lanes are, however their rows of the destination begin, want different words of one bank.
    static constexpr int kGroupsOfWarp = kLanes < 32 ? 32 / kLanes : 0;
    static constexpr int kFromLane = kGroups + kGroupsOfWarp + 1, kFromCol = kLanes * kFromLane;
    static_assert(kFromLane % 2 == 1);
    static constexpr int kBytes = kCols * kFromLane * kWord;
    static constexpr std::int64_t kAll = kMaxGridY;  // columns of tiles that a grid can have

    // Writing: eight threads beside each other have vectors of one column, and their neighbours a column that is
    // another lane's.
    static constexpr int kColsAtOnce = kThreads / 8 < kCols ? kThreads / 8 : kCols;
    static constexpr int kVectorsAtOnce = kThreads / kColsAtOnce;
    static constexpr int kNeighbours = kLanes < 4 ? kLanes : 4;
    static constexpr int kStores = kCols / kColsAtOnce, kTurns = (kVectors + kVectorsAtOnce - 1) / kVectorsAtOnce;
    static_assert(kVectorsAtOnce % 8 == 0 && kStores * kColsAtOnce == kCols);
    static_assert(kColsAtOnce % (kNeighbours * kColsPerLane) == 0);
    static_assert(kStores == 1 || kColsAtOnce * kElement % kSector == 0, "a thread's columns begin alike");

    // The words of one row that a thread loads, `past` a word's beginning.
    struct part_of_row {
        const byte* from;  // aligned
        unsigned past;     // bytes

        __device__ __forceinline__ void begin_at(const byte* address) {
            past = static_cast<unsigned>(past_word(address));
            from = kept_pointer(address - past);
        }
        // The words' width of the row, out of what was loaded.
        __device__ __forceinline__ unsigned shifted(const unsigned (&raw)[kWords + 1], int k) const {
            return __funnelshift_r(raw[k], raw[k + 1], 8 * past);
        }
        // Loads those words that lie in a row wholly: it `begins` with the thread's part or before, and ends `left`
        // bytes behind the part's beginning. 0 in the place of the others.
        __device__ __forceinline__ void load_within(unsigned (&raw)[kWords + 1], bool begins, int left) const {
            const int least = begins ? 0 : -kWord;
            CORNERTURN_UNROLL
            for (int k = 0; k <= kWords; ++k) {
                const int at = kWord * k - static_cast<int>(past);
                raw[k] = 0;
                if (at >= least && at + kWord <= left) raw[k] = load_kept(reinterpret_cast<const unsigned*>(from) + k);
            }
        }
    };

    // Words of columns out of a group's words.
    static __device__ __forceinline__ void turn(const unsigned (&rows)[kPerWord], unsigned (&columns)[kPerWord]) {
        if constexpr (kPerWord == 2) {
            columns[0] = __byte_perm(rows[0], rows[1], 0x5410);
            columns[1] = __byte_perm(rows[0], rows[1], 0x7632);
        } else {
            const unsigned ab = __byte_perm(rows[0], rows[1], 0x5140), cd = __byte_perm(rows[2], rows[3], 0x5140);
            const unsigned ab_high = __byte_perm(rows[0], rows[1], 0x7362);
            const unsigned cd_high = __byte_perm(rows[2], rows[3], 0x7362);
            columns[0] = __byte_perm(ab, cd, 0x5410);
            columns[1] = __byte_perm(ab, cd, 0x7632);
            columns[2] = __byte_perm(ab_high, cd_high, 0x5410);
            columns[3] = __byte_perm(ab_high, cd_high, 0x7632);
        }
    }

    // Stages the tile whose first row is `row`, and its first column `col`, of a rows x cols matrix. kInside: all of it
    // is there, and so are the words around; else what is not there is staged as 0, and so are the elements at a row's
    // ends that share their word with something else: load_ends() is to follow.
    template <bool kInside>
    static __device__ __forceinline__ void load(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                unsigned* tile) {
        const unsigned lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
        col += lane * kColsPerLane;
        row += group * kPerWord;
        tile += lane * kFromLane + group;
        const std::int64_t wide = (kWords + 1) * kPerWord;
        const int left = static_cast<int>(cols - col < wide ? cols - col : wide) * kElement;
        if (!kInside && left <= 0) return;

        const byte* const first = matrix + row * pitch + col * kElement;
        const std::int64_t step = kGroupsAtOnce * kPerWord * pitch;
        part_of_row parts[kPerWord];
        CORNERTURN_UNROLL
        for (int r = 0; r < kPerWord; ++r) parts[r].begin_at(first + r * pitch);
        CORNERTURN_UNROLL_BY(kInside ? 4 / kPerWord : 1)
        for (int i = 0; i < kLoads; ++i) {
            unsigned raw[kPerWord][kWords + 1];
            CORNERTURN_UNROLL
            for (int r = 0; r < kPerWord; ++r) {
                if constexpr (kInside) {
                    CORNERTURN_UNROLL
                    for (int k = 0; k <= kWords; ++k)
                        raw[r][k] = load_kept(reinterpret_cast<const unsigned*>(parts[r].from) + k);
                } else {
                    const bool there = row + r >= 0 && row + r < rows;
                    parts[r].load_within(raw[r], col == 0, there ? left : 0);
                }
            }
            CORNERTURN_UNROLL
            for (int k = 0; k < kWords; ++k) {
                unsigned words[kPerWord], columns[kPerWord];
                CORNERTURN_UNROLL
                for (int r = 0; r < kPerWord; ++r) words[r] = parts[r].shifted(raw[r], k);
                turn(words, columns);
                CORNERTURN_UNROLL
                for (int c = 0; c < kPerWord; ++c) tile[(k * kPerWord + c) * kFromCol] = columns[c];
            }
            CORNERTURN_UNROLL
            for (int r = 0; r < kPerWord; ++r) parts[r].from = kept_pointer(parts[r].from + step);
            row += kGroupsAtOnce * kPerWord;
            tile += kGroupsAtOnce;
        }
    }

    // Stages, one by one, the first and the last elements of rows, so many as a word can have.
    static __device__ __forceinline__ void load_ends(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                     std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                     unsigned* tile) {
        using element = storage_t<kElement>;
        constexpr int kEnd = kPerWord - 1;
        const std::int64_t wide = kCols + kEnd;
        const int left = static_cast<int>(cols - col < wide ? cols - col : wide), begun = col == 0 ? kEnd : 0;
        constexpr int kAll = kRows * 2 * kEnd / kThreads, kAtOnce = kEnd < kAll ? kEnd : kAll;
        static_assert(kAll % kAtOnce == 0 && kAll * kThreads == kRows * 2 * kEnd);
        CORNERTURN_UNROLL_BY(1)
        for (int first = 0; first < kAll; first += kAtOnce) {
            element values[kAtOnce];
            const auto each = [&](auto move) {
                CORNERTURN_UNROLL
                for (int i = 0; i < kAtOnce; ++i) {
                    const int turn = static_cast<int>(threadIdx.x) + (first + i) * kThreads;
                    const int r = turn % kRows, k = turn / kRows, c = k < kEnd ? k : left - 1 - (k - kEnd);
                    const bool end = k < kEnd ? c < begun : c >= begun;
                    if (end && c < kCols && c < left && row + r >= 0 && row + r < rows) move(values[i], r, c);
                }
            };
            each([&](element& value, int r, int c) {
                value = value_at<element>(matrix + (row + r) * pitch + (col + c) * kElement);
            });
            each([&](element value, int r, int c) {
                unsigned* const column = tile + c % kColsPerLane * kFromCol + c / kColsPerLane * kFromLane;
                reinterpret_cast<element*>(column)[r] = value;
            });
        }
    }

    // Writes the tile. `line` is the address of its row kBack in its first column's row of the destination, and that
    // the destination's `row` of `rows`. kInside: all its rows and columns are there.
    template <bool kInside>
    static __device__ __forceinline__ void store(byte* line, std::int64_t pitch, std::int64_t row, std::int64_t rows,
                                                 std::int64_t cols, const unsigned* tile) {
        const unsigned part = threadIdx.x / 8, turn = part % kColsAtOnce;
        const unsigned vector = threadIdx.x % 8 + part / kColsAtOnce * 8;
        const unsigned lane = turn % kNeighbours + turn / (kNeighbours * kColsPerLane) * kNeighbours;
        const unsigned in_lane = turn / kNeighbours % kColsPerLane, col = lane * kColsPerLane + in_lane;
        line += col * pitch;
        const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line)) % kSector;
        const unsigned shift = 8 * past;
        byte* to = line - past + vector * kVectorBytes;
        row += static_cast<std::int64_t>(vector * (kVectorBytes / kElement)) - past / kElement;
        // The vector's last three bytes of its first word, or more of it, lie behind the word before.
        tile += lane * kFromLane + in_lane * kFromCol + (kSector - past + 3) / kWord - 1 + vector * 4;
        int left = cols < kCols ? static_cast<int>(cols) - static_cast<int>(col) : kCols;
        CORNERTURN_UNROLL_BY(kInside ? kStores : 1)
        for (int i = 0; i < kStores; ++i) {
            if (!kInside && left <= 0) return;
            CORNERTURN_UNROLL
            for (int t = 0; t < kTurns; ++t) {
                if ((t + 1) * kVectorsAtOnce > kVectors && vector + t * kVectorsAtOnce >= kVectors) break;
                unsigned raw[5], words[4];
                CORNERTURN_UNROLL
                for (int k = 0; k < 5; ++k) raw[k] = tile[t * (4 * kVectorsAtOnce) + k];
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k) words[k] = __funnelshift_l(raw[k], raw[k + 1], shift);
                byte* const address = to + t * (kVectorsAtOnce * kVectorBytes);
                const std::int64_t at = row + t * (kVectorsAtOnce * kVectorBytes / kElement);
                if (kInside || (at >= 0 && at + kVectorBytes / kElement <= rows)) {
                    __stwb(reinterpret_cast<uint4*>(address), make_uint4(words[0], words[1], words[2], words[3]));
                } else {
                    CORNERTURN_UNROLL
                    for (int k = 0; k < 4; ++k)
                        store_elements_within<kElement>(address + 4 * k, words[k], at + k * kPerWord, rows);
                }
            }
            to += kColsAtOnce * pitch;
            tile += kColsAtOnce / kColsPerLane * kFromLane;
            left -= kColsAtOnce;
        }
    }

    // The tiles that load<true>() may read: what it reads beyond a tile's elements must be elements of the matrix too,
    // not a gap. Tile (i, j) holds rows i * kMoved - kBack and on.
    static tile_range readable(const matrix_work& work) {
        if (work.source_ld > work.cols) return {1, work.rows / kMoved, 1, (work.cols - kPerWord) / kCols};
        const std::int64_t rows_beyond = (kCols + kPerWord + work.cols - 1) / work.cols;
        return {1, (work.rows - rows_beyond) / kMoved, 0, kAll};
    }
    // The tiles that store<true>() may write: all their rows and columns are there.
    static tile_range writable(const matrix_work& work) { return {1, work.rows / kMoved, 0, work.cols / kCols}; }
};

template <int kElement, int kColBytes, int kRowBytes, int kWords, int kThreads, int kResident>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident)
    transpose_ragged_bytes(matrix_work work, tile_range readable, tile_range writable) {
    using tiles = byte_tile<kElement, kColBytes, kRowBytes, kWords, kThreads>;
    CORNERTURN_DYNAMIC_SHARED(unsigned, tile);
    const unsigned tile_row = blockIdx.x, tile_col = blockIdx.y;  // as column_major deals them out
    const std::int64_t row = std::int64_t{tile_row} * tiles::kMoved, matrix = blockIdx.z;
    const std::int64_t col = tile_col * static_cast<unsigned>(tiles::kCols);
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;

    const std::int64_t first_row = row - tiles::kBack;
    if (readable.has(tile_row, tile_col)) {
        tiles::template load<true>(source, from_pitch, first_row, col, work.rows, work.cols, tile);
    } else {
        tiles::template load<false>(source, from_pitch, first_row, col, work.rows, work.cols, tile);
        __syncthreads();
        tiles::load_ends(source, from_pitch, first_row, col, work.rows, work.cols, tile);
    }
    __syncthreads();
    byte* const line = destination + col * to_pitch + row * kElement;
    if (writable.has(tile_row, tile_col)) {
        tiles::template store<true>(line, to_pitch, row, work.rows, work.cols - col, tile);
    } else {
        tiles::template store<false>(line, to_pitch, row, work.rows, work.cols - col, tile);
    }
}

template <int kElement, int kColBytes, int kRowBytes, int kWords, int kThreads, int kResident>
void run(const matrix_work& work) {
    using tiles = byte_tile<kElement, kColBytes, kRowBytes, kWords, kThreads>;
    for_each_slab<column_major, operation::transpose>(
        work, {tiles::kMoved, tiles::kCols, tiles::kBack}, dim3(kThreads),
        [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            launch(shape, transpose_ragged_bytes<kElement, kColBytes, kRowBytes, kWords, kThreads, kResident>, part,
                   tiles::readable(part), tiles::writable(part));
        });
}

template <int kElement, int kColBytes, int kRowBytes, int kWords, int kThreads, int kResident>
constexpr production_kernel tuned() {
    using tiles = byte_tile<kElement, kColBytes, kRowBytes, kWords, kThreads>;
    return {{path::ragged, kElement, tiles::kMoved, tiles::kCols, kThreads},
            &run<kElement, kColBytes, kRowBytes, kWords, kThreads, kResident>};
}

// From narrow and tall tiles, for matrices of few columns, to square ones.
constexpr production_kernel kKernels[] = {
    tuned<1, 2048, 16, 2, 256, 1536>(), tuned<1, 1024, 32, 2, 256, 1536>(), tuned<1, 512, 64, 2, 256, 1536>(),
    tuned<1, 512, 128, 2, 512, 1536>(), tuned<1, 256, 256, 2, 512, 1536>(), tuned<2, 2048, 32, 2, 256, 1536>(),
    tuned<2, 1024, 64, 2, 256, 1536>(), tuned<2, 512, 128, 2, 256, 1536>(), tuned<2, 1024, 128, 2, 512, 1536>(),
    tuned<2, 512, 256, 2, 512, 1536>(),
};

}  // namespace

production_kernels ragged_bytes_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
