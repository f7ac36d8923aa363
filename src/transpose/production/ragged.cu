// Tiles of any alignment, by words: 4 bytes, or an element that is wider.
//
// Reads: a row of the tile is a row of words. Where elements are narrower than a word, two aligned words of the source
// are shifted into one of the tile.
//
// Writes: elements narrower than a word come in groups of as many rows as a word has elements. A group of words is
// turned into words of columns, and two of those that follow each other are shifted into one of the destination's. So
// each column of the tile begins up to a group earlier than its rows do, and the tile holds one group more than it
// moves.
//
// Tiles are large, since every row and every column of one touches a sector of memory more than it would if it were
// aligned.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
struct ragged_tile {
    using word = word_t<kElement>;
    static constexpr int kWord = kWordBytes<kElement>, kPerWord = kElementsPerWord<kElement>;
    static constexpr int kRows = kGroups * kPerWord, kCols = kWordsPerRow * kPerWord;
    static constexpr int kBack = kPerWord > 1 ? kPerWord : 0;  // rows of the group before
    static constexpr int kPitch = kWordsPerRow | 1;            // in words; odd: a column of words has one in each bank
    static constexpr int kBytes = (kBack + kRows) * kPitch * kWord;
    static constexpr int kLoads = kRows * kWordsPerRow / kThreads, kStores = kGroups * kWordsPerRow / kThreads;
    static constexpr int kLoadRows = kThreads / kWordsPerRow, kStoreWords = kThreads / kGroups;
    static_assert(kLoadRows * kWordsPerRow == kThreads && kStoreWords * kGroups == kThreads);
    static_assert(kLoads * kThreads == kRows * kWordsPerRow && kStores * kThreads == kGroups * kWordsPerRow);
    static_assert(kBack <= kLoadRows);

    // Reads the tile's words; `from` is the address of its first row, kBack rows before those that it moves.
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
            for (int k = 0; k < kAtOnce; ++k) {
                words[k] = load_word<kElement>(from);
                from += kLoadRows * pitch;
            }
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) tile[k * (kLoadRows * kPitch)] = words[k];
            tile += kAtOnce * kLoadRows * kPitch;
        }
        if (r < kBack) *tile = load_word<kElement>(from);
    }

    // The same at the edges of a rows x cols matrix: the tile's first row is `row`, maybe below 0, and its column
    // `col`.
    static __device__ __forceinline__ void load_within(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                       std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                       word* tile) {
        const int w = static_cast<int>(threadIdx.x) % kWordsPerRow, r = static_cast<int>(threadIdx.x) / kWordsPerRow;
        if (col + w * kPerWord >= cols) return;
        CORNERTURN_UNROLL_BY(4)
        for (int i = r; i < kBack + kRows; i += kLoadRows) {
            if (row + i < 0 || row + i >= rows) continue;
            const byte* const line = matrix + (row + i) * pitch;
            tile[i * kPitch + w] =
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

    // How many elements of a word lie before this address.
    static __device__ __forceinline__ int phase(const byte* address) {
        return kPerWord > 1 ? past_word(address) / kElement : 0;
    }

    // Writes the tile; `line` is where the first row that it moves begins in the destination, in its first column.
    static __device__ __forceinline__ void store(byte* line, std::int64_t pitch, const word* tile, std::int64_t cols) {
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        line += w * kPerWord * pitch + g * kWord;
        tile += (kBack + g * kPerWord) * kPitch + w;
        int left = cols < kCols ? static_cast<int>(cols) - w * kPerWord : kCols;
        CORNERTURN_UNROLL_BY(4)
        for (int i = 0; i < kStores; ++i) {
            if (left <= 0) return;
            const group now(tile);
            const group before(tile - kBack * kPitch);
            byte* to = line;
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerWord; ++k) {
                const int past = phase(to);
                word value = now.columns[k];
                if constexpr (kPerWord > 1)
                    value = __funnelshift_rc(before.columns[k], value, 32 - 8 * kElement * past);
                if (k < left) store_word<kElement>(to - past * kElement, value);
                to += pitch;
            }
            line += kStoreWords * kPerWord * pitch;
            tile += kStoreWords;
            left -= kStoreWords * kPerWord;
        }
    }

    // The same at the edges of the destination; `matrix` is its beginning, and the tile's first row that moves is
    // `row`.
    static __device__ __forceinline__ void store_within(byte* matrix, std::int64_t pitch, std::int64_t row,
                                                        std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                        const word* tile) {
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        const auto* const bytes = reinterpret_cast<const byte*>(tile);
        CORNERTURN_UNROLL_BY(1)
        for (int c = w * kPerWord; c < kCols; c += kStoreWords * kPerWord) {
            CORNERTURN_UNROLL_BY(1)
            for (int k = 0; k < kPerWord; ++k) {
                if (col + c + k >= cols) return;
                byte* const line = matrix + (col + c + k) * pitch;
                const int first = g * kPerWord - phase(line + row * kElement);
                store_word_within<kElement>(line, row + first, rows, [&](int i) {
                    return value_at<storage_t<kElement>>(bytes + (kBack + first + i) * kPitch * kWord +
                                                         (c + k) * kElement);
                });
            }
        }
    }
};

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
__global__ void __launch_bounds__(kThreads) transpose_ragged(matrix_work work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads>;
    CORNERTURN_DYNAMIC_SHARED(typename tiles::word, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tiles::kRows, col = index.col * tiles::kCols, matrix = blockIdx.z;
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;

    // What load() may read beyond the tile's elements must be elements of the matrix too, not a gap.
    constexpr int kBeyond = kElement < 4 ? 8 / kElement : 0;
    const bool rows_inside = row >= tiles::kBack && row + tiles::kRows <= work.rows;
    const bool inside =
        work.source_ld == work.cols
            ? rows_inside && (row - tiles::kBack) * work.cols + col >= kBeyond &&
                  (row + tiles::kRows - 1) * work.cols + col + tiles::kCols + kBeyond <= work.rows * work.cols
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
        work, {tiles::kRows, tiles::kCols, tiles::kBack}, dim3(kThreads),
        [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            launch(shape, transpose_ragged<kElement, kGroups, kWordsPerRow, kThreads>, part);
        });
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads>
constexpr production_kernel tuned() {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads>;
    return {{path::ragged, kElement, tiles::kRows, tiles::kCols, kThreads},
            &run<kElement, kGroups, kWordsPerRow, kThreads>};
}

// From narrow and tall tiles, for matrices of few columns, to square ones.
constexpr production_kernel kKernels[] = {
#ifdef TUNE
    tuned<1, 64, 64, 256>(),   tuned<1, 64, 64, 1024>(),  tuned<1, 64, 32, 256>(),    tuned<1, 64, 32, 512>(),
    tuned<1, 128, 32, 256>(),  tuned<1, 128, 32, 512>(),  tuned<2, 64, 64, 256>(),    tuned<2, 64, 64, 512>(),
    tuned<2, 128, 64, 1024>(), tuned<2, 128, 64, 256>(),  tuned<2, 64, 128, 512>(),   tuned<2, 128, 32, 256>(),
    tuned<4, 64, 64, 256>(),   tuned<4, 64, 64, 512>(),   tuned<4, 128, 128, 1024>(), tuned<4, 128, 64, 512>(),
    tuned<4, 64, 128, 512>(),  tuned<4, 128, 128, 256>(), tuned<4, 128, 64, 256>(),   tuned<4, 64, 128, 256>(),
    tuned<8, 32, 32, 256>(),   tuned<8, 64, 64, 256>(),   tuned<8, 64, 64, 1024>(),   tuned<8, 64, 32, 256>(),
    tuned<8, 32, 64, 256>(),   tuned<8, 128, 64, 512>(),  tuned<8, 64, 128, 512>(),   tuned<16, 32, 16, 256>(),
    tuned<16, 32, 32, 256>(),  tuned<16, 32, 32, 512>(),  tuned<16, 64, 32, 512>(),   tuned<16, 32, 64, 512>(),
    tuned<16, 64, 64, 1024>(),
#endif
    tuned<1, 512, 4, 512>(),   tuned<1, 256, 8, 256>(),   tuned<1, 128, 16, 256>(),   tuned<1, 64, 64, 512>(),   //
    tuned<2, 512, 8, 512>(),   tuned<2, 256, 16, 256>(),  tuned<2, 128, 32, 256>(),   tuned<2, 128, 64, 512>(),  //
    tuned<4, 512, 8, 512>(),   tuned<4, 512, 16, 512>(),  tuned<4, 256, 32, 256>(),   tuned<4, 128, 64, 256>(),
    tuned<4, 128, 128, 512>(),                                                                                  //
    tuned<8, 256, 8, 256>(),   tuned<8, 256, 16, 256>(),  tuned<8, 128, 32, 256>(),   tuned<8, 64, 64, 512>(),  //
    tuned<16, 256, 4, 256>(),  tuned<16, 128, 8, 256>(),  tuned<16, 128, 16, 256>(),  tuned<16, 64, 32, 256>(),
};

}  // namespace

production_kernels ragged_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
