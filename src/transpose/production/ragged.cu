// Tiles of any alignment, by words: 4 bytes, or an element that is wider.
//
// Reads: a row of the tile is a row of words. Where elements are narrower than a word, two aligned words of the source
// are shifted into one of the tile.
//
// Writes: whole sectors of memory (32 bytes), since a sector that two blocks write in part costs as much as a read of
// it. Each row of the destination begins elsewhere within a sector, so each column of the tile ends elsewhere: a tile
// holds one sector's rows more than it moves, and what it leaves at its end the next tile begins with.
//
// Elements narrower than a word come in groups of as many rows as a word has elements: a group of words is turned into
// words of columns, and two of those that follow each other are shifted into one of the destination's.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kSectorBytes = 32;

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
struct ragged_tile {
    using word = word_t<kElement>;
    static constexpr int kWord = kWordBytes<kElement>, kPerWord = kElementsPerWord<kElement>;
    static constexpr int kWordsPerSector = kSectorBytes / kWord, kBack = kSectorBytes / kElement;
    static constexpr int kRows = kGroups * kPerWord, kCols = kWordsPerRow * kPerWord;
    static constexpr int kMoved = kRows - kBack;     // rows from one tile to the next
    static constexpr int kPitch = kWordsPerRow | 1;  // in words; odd: a column of words has one in each bank
    static constexpr int kLoads = kRows * kWordsPerRow / kThreads, kStores = kGroups * kWordsPerRow / kThreads;
    static constexpr int kLoadRows = kThreads / kWordsPerRow, kStoreWords = kThreads / kGroups;
    static_assert(kLoadRows * kWordsPerRow == kThreads && kStoreWords * kGroups == kThreads);
    static_assert(kLoads * kThreads == kRows * kWordsPerRow && kStores * kThreads == kGroups * kWordsPerRow);
    static_assert(kRows * kPitch * kWord <= 48 << 10);

    // Reads words [0, kWordsPerRow) of kRows rows; `from` is the first one's address.
    static __device__ __forceinline__ void load(const byte* from, std::int64_t pitch, word* tile) {
        const int w = static_cast<int>(threadIdx.x) % kWordsPerRow, r = static_cast<int>(threadIdx.x) / kWordsPerRow;
        constexpr int kAtOnce = kLoads < 8 ? kLoads : 8;
        static_assert(kLoads % kAtOnce == 0);
        from += r * pitch + w * kWord;
        tile += r * kPitch + w;
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < kLoads; i += kAtOnce) {
            word words[kAtOnce];
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) words[k] = load_word<kElement>(from + k * (kLoadRows * pitch));
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) tile[k * (kLoadRows * kPitch)] = words[k];
            from += kAtOnce * kLoadRows * pitch;
            tile += kAtOnce * kLoadRows * kPitch;
        }
    }

    // The same at the edges of a rows x cols matrix: the tile's first row is `row`, maybe below 0, and its column
    // `col`.
    static __device__ __forceinline__ void load_within(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                       std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                       word* tile) {
        const int w = static_cast<int>(threadIdx.x) % kWordsPerRow, r = static_cast<int>(threadIdx.x) / kWordsPerRow;
        if (col + w * kPerWord >= cols) return;
        CORNERTURN_UNROLL_BY(4)
        for (int i = 0; i < kLoads; ++i) {
            const std::int64_t at_row = row + r + i * kLoadRows;
            if (at_row < 0 || at_row >= rows) continue;
            const byte* const line = matrix + at_row * pitch;
            tile[(r + i * kLoadRows) * kPitch + w] =
                load_word_within<kElement>(line + col * kElement + w * kWord, line, line + cols * kElement);
        }
    }

    // Words of the columns that a group of rows makes.
    struct group {
        word columns[kPerWord];
        __device__ __forceinline__ explicit group(const word* first) {
            if constexpr (kPerWord == 1) {
                columns[0] = first[0];
            } else if constexpr (kPerWord == 2) {
                const unsigned a = first[0], b = first[kPitch];
                columns[0] = __byte_perm(a, b, 0x5410);
                columns[1] = __byte_perm(a, b, 0x7632);
            } else {
                const unsigned a = first[0], b = first[kPitch], c = first[2 * kPitch], d = first[3 * kPitch];
                const unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
                const unsigned ab_high = __byte_perm(a, b, 0x7362), cd_high = __byte_perm(c, d, 0x7362);
                columns[0] = __byte_perm(ab, cd, 0x5410);
                columns[1] = __byte_perm(ab, cd, 0x7632);
                columns[2] = __byte_perm(ab_high, cd_high, 0x5410);
                columns[3] = __byte_perm(ab_high, cd_high, 0x7632);
            }
        }
    };

    // Where this tile's part of a row of the destination lies within its words and sectors. `address` is that of the
    // tile's row kBack.
    struct phase {
        int elements, words;
        __device__ __forceinline__ explicit phase(const byte* address) {
            const auto low = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address));
            elements = kPerWord > 1 ? static_cast<int>(low % kWord) / kElement : 0;
            words = static_cast<int>(low % kSectorBytes) / kWord;
        }
        // Whether word g of the tile, which ends with row kPerWord * (g + 1) - elements, is one that it moves.
        __device__ __forceinline__ bool moves(int g) const {
            return static_cast<unsigned>(g - kWordsPerSector + words) < kMoved / kPerWord;
        }
    };

    // Writes the tile. `line` is the address of its row kBack in its first column's row of the destination.
    static __device__ __forceinline__ void store(byte* line, std::int64_t pitch, const word* tile, std::int64_t cols) {
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        if (g == 0) return;  // no part of a word that is moved
        line += w * kPerWord * pitch;
        tile += g * (kPerWord * kPitch) + w;
        int left = cols - w * kPerWord < kCols ? static_cast<int>(cols - w * kPerWord) : kCols;
        CORNERTURN_UNROLL_BY(4)
        for (int i = 0; i < kStores; ++i) {
            if (left <= 0) return;
            const group now(tile);
            const group before(tile - (kPerWord > 1 ? kPerWord * kPitch : 0));
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerWord; ++k) {
                byte* const to = line + k * pitch;
                const phase at(to);
                word value = now.columns[k];
                if constexpr (kPerWord > 1)
                    value = __funnelshift_rc(before.columns[k], value, 32 - 8 * kElement * at.elements);
                if (at.moves(g) && k < left)
                    store_word<kElement>(to + (g - kWordsPerSector) * kWord - at.elements * kElement, value);
            }
            line += kStoreWords * kPerWord * pitch;
            tile += kStoreWords;
            left -= kStoreWords * kPerWord;
        }
    }

    // The same at the edges of the destination; `matrix` is its beginning, and the tile's row kBack is its `row`.
    static __device__ __forceinline__ void store_within(byte* matrix, std::int64_t pitch, std::int64_t row,
                                                        std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                        const word* tile) {
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        const auto* const bytes = reinterpret_cast<const byte*>(tile);
        for (int c = w * kPerWord; c < kCols; c += kStoreWords * kPerWord) {
            CORNERTURN_UNROLL_BY(1)
            for (int k = 0; k < kPerWord; ++k) {
                if (col + c + k >= cols) return;
                byte* const line = matrix + (col + c + k) * pitch;
                const phase at(line + row * kElement);
                if (!at.moves(g)) continue;
                const int first = g * kPerWord - at.elements;  // row of the tile
                store_word_within<kElement>(line, row + first - kBack, rows, [&](int i) {
                    return value_at<storage_t<kElement>>(bytes + ((first + i) * kPitch * kWord + (c + k) * kElement));
                });
            }
        }
    }
};

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
__global__ void __launch_bounds__(kThreads) transpose_ragged(matrix_work work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads>;
    __shared__ typename tiles::word tile[tiles::kRows * tiles::kPitch];
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tiles::kMoved, col = index.col * tiles::kCols, matrix = blockIdx.z;
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;

    // What load() may read beyond the tile's elements must be elements of the matrix too, not a gap.
    constexpr int kBeyond = kElement < 4 ? 8 / kElement : 0;
    const bool rows_inside = row >= tiles::kBack && row + tiles::kMoved <= work.rows;
    const bool inside =
        work.source_ld == work.cols
            ? rows_inside && (row - tiles::kBack) * work.cols + col >= kBeyond &&
                  (row + tiles::kMoved - 1) * work.cols + col + tiles::kCols + kBeyond <= work.rows * work.cols
            : rows_inside && (kBeyond == 0 || col > 0) && col + tiles::kCols + kBeyond <= work.cols;
    if (inside) {
        tiles::load(source + (row - tiles::kBack) * from_pitch + col * kElement, from_pitch, tile);
        __syncthreads();
        tiles::store(destination + col * to_pitch + row * kElement, to_pitch, tile, work.cols - col);
    } else {
        tiles::load_within(source, from_pitch, row - tiles::kBack, col, work.rows, work.cols, tile);
        __syncthreads();
        tiles::store_within(destination, to_pitch, row, col, work.rows, work.cols, tile);
    }
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
void run(const matrix_work& work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads>;
    for_each_slab<column_major, operation::transpose>(
        work, {tiles::kMoved, tiles::kCols, tiles::kBack}, dim3(kThreads),
        [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, transpose_ragged<kElement, kGroups, kWordsPerRow, kThreads>, part);
        });
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
constexpr production_kernel tuned() {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads>;
    return {{path::ragged, kElement, tiles::kMoved, tiles::kCols, kThreads},
            &run<kElement, kGroups, kWordsPerRow, kThreads>};
}

// Square tiles, and narrower and taller ones for matrices of few columns.
constexpr production_kernel kKernels[] = {
    tuned<1, 64, 32, 512>(),  tuned<1, 128, 16, 512>(), tuned<1, 128, 8, 256>(),  tuned<1, 256, 4, 256>(),
    tuned<1, 512, 2, 512>(),  tuned<1, 512, 1, 512>(),  //
    tuned<2, 64, 32, 512>(),  tuned<2, 64, 64, 512>(),  tuned<2, 128, 16, 512>(), tuned<2, 128, 8, 256>(),
    tuned<2, 256, 4, 256>(),  tuned<2, 512, 2, 512>(),  tuned<2, 512, 1, 512>(),  //
    tuned<4, 64, 64, 512>(),  tuned<4, 128, 32, 512>(), tuned<4, 128, 16, 512>(), tuned<4, 256, 8, 512>(),
    tuned<4, 512, 4, 512>(),  tuned<4, 512, 2, 512>(),  //
    tuned<8, 64, 32, 512>(),  tuned<8, 64, 16, 256>(),  tuned<8, 128, 8, 256>(),  tuned<8, 256, 4, 256>(),
    tuned<8, 256, 2, 256>(),  //
    tuned<16, 32, 16, 256>(), tuned<16, 64, 8, 256>(),  tuned<16, 64, 4, 256>(),  tuned<16, 128, 2, 256>(),
};

}  // namespace

production_kernels ragged_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
