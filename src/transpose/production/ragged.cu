// Tiles of any alignment, by words: 4 bytes, or an element that is wider.
//
// Reads: a row of the tile is a row of words. Where elements are narrower than a word, two aligned words of the source
// are shifted into one of the tile.
//
// Writes: whole sectors of memory (32 bytes), since a sector that two blocks write in part costs twice. Each row of the
// destination begins elsewhere within a sector, so each column of the tile ends elsewhere: a tile holds one sector's
// rows more than it moves, and what it leaves at its end the next tile begins with.
//
// Elements narrower than a word: ragged_bytes.cu.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {

template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
struct ragged_tile {
    static constexpr int kSector = 32;  // bytes
    using word = word_t<kElement>;
    static constexpr int kWord = kWordBytes<kElement>, kPerWord = kElementsPerWord<kElement>;
    static constexpr int kRows = kGroups * kPerWord, kCols = kWordsPerRow * kPerWord;
    static constexpr int kWordsPerSector = kSector / kWord, kBack = kSector / kElement;
    static constexpr int kMoved = kRows - kBack;     // rows from one tile to the next
    static constexpr int kPitch = kWordsPerRow | 1;  // in words; odd: a column of words has one in each bank
    static constexpr int kBytes = kRows * kPitch * kWord;
    static constexpr int kLoads = kRows * kWordsPerRow / kThreads, kStores = kGroups * kWordsPerRow / kThreads;
    static constexpr int kLoadRows = kThreads / kWordsPerRow, kStoreWords = kThreads / kGroups;
    static_assert(kLoadRows * kWordsPerRow == kThreads && kStoreWords * kGroups == kThreads);
    static_assert(kLoads * kThreads == kRows * kWordsPerRow && kStores * kThreads == kGroups * kWordsPerRow);

    // Reads the tile's words from a rows x cols matrix: the tile's first row is `row`, and its first column `col`.
    // kInside: all of them are there, and what load_word() reads around them; else what is not there comes as 0.
    template <bool kInside>
    static __device__ __forceinline__ void load(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                std::int64_t col, std::int64_t rows, std::int64_t cols, word* tile) {
        const int w = static_cast<int>(threadIdx.x) % kWordsPerRow, r = static_cast<int>(threadIdx.x) / kWordsPerRow;
        if (!kInside && col + w * kPerWord >= cols) return;
        constexpr int kMost = kPerWord > 1 && kResident == 2048 ? 4 : 8, kAtOnce = kLoads < kMost ? kLoads : kMost;
        static_assert(kLoads % kAtOnce == 0);
        row += r;
        tile += r * kPitch + w;
        const byte* from = matrix + row * pitch + (col + w * kPerWord) * kElement;
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < kLoads; i += kAtOnce) {
            raw_word<kElement> words[kAtOnce];
            bool safe[kAtOnce], there[kAtOnce];
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) {
                const byte* const address = from + k * (kLoadRows * pitch);
                if (!kInside) {
                    there[k] = row + k * kLoadRows >= 0 && row + k * kLoadRows < rows;
                    const byte* const line = matrix + (row + k * kLoadRows) * pitch;
                    safe[k] = there[k] && raw_word<kElement>::is_within(address, line, line + cols * kElement);
                }
                if (kInside || safe[k]) words[k].load(address);
            }
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) {
                word value{};
                if (kInside || safe[k]) {
                    value = words[k].shifted(from + k * (kLoadRows * pitch));
                } else if (kPerWord > 1 && there[k]) {
                    const byte* const line = matrix + (row + k * kLoadRows) * pitch;
                    value = load_word_within<kElement>(from + k * (kLoadRows * pitch), line, line + cols * kElement);
                }
                tile[k * (kLoadRows * kPitch)] = value;
            }
            row += kAtOnce * kLoadRows;
            from += kAtOnce * kLoadRows * pitch;
            tile += kAtOnce * kLoadRows * kPitch;
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

    // Writes the tile. `line` is the address of its row kBack in its first column's row of the destination. kInside:
    // all its rows are there; else row kBack is the destination's `row` of `rows`.
    template <bool kInside>
    static __device__ __forceinline__ void store(byte* line, std::int64_t pitch, std::int64_t row, std::int64_t rows,
                                                 std::int64_t cols, const word* tile) {
        static_assert(kPerWord == 1);
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        if (g < kWordsPerSector) return;
        line += w * pitch;
        tile += g * kPitch + w;
        row += g - kWordsPerSector;
        int left = cols < kCols ? static_cast<int>(cols) - w : kCols;
        CORNERTURN_UNROLL_BY(8)
        for (int i = 0; i < kStores; ++i) {
            if (left <= 0) return;
            // A thread's word lies so far back that a warp writes whole sectors.
            const int back = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % kSector / kWord);
            if (kInside || (row - back >= 0 && row - back < rows))
                store_word<kElement>(line + (g - kWordsPerSector - back) * kWord, tile[-back * kPitch]);
            line += kStoreWords * pitch;
            tile += kStoreWords;
            left -= kStoreWords;
        }
    }

    // The same where every word is aligned on both sides; `to` is where the thread's word of the first column belongs.
    static __device__ __forceinline__ void store_aligned(byte* to, std::int64_t pitch, std::int64_t cols,
                                                         const word* tile) {
        const int g = static_cast<int>(threadIdx.x) % kGroups, w = static_cast<int>(threadIdx.x) / kGroups;
        to += w * kPerWord * pitch;
        tile += g * (kPerWord * kPitch) + w;
        int left = cols < kCols ? static_cast<int>(cols) - w * kPerWord : kCols;
        CORNERTURN_UNROLL_BY(4)
        for (int i = 0; i < kStores; ++i) {
            if (left <= 0) return;
            const group now(tile);
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerWord; ++k) {
                if (k < left) store_word<kElement>(to, now.columns[k]);
                to += pitch;
            }
            to += (kStoreWords - 1) * kPerWord * pitch;
            tile += kStoreWords;
            left -= kStoreWords * kPerWord;
        }
    }
};

namespace {

// Whether load<true>() may read a tile: what it reads beyond the tile's elements must be elements of the matrix too,
// not a gap. The tile's first row is `row`.
template <class Tiles, int kElement>
__device__ __forceinline__ bool is_inside(const matrix_work& work, std::int64_t row, std::int64_t col) {
    constexpr int kBeyond = kElement < 4 ? 8 / kElement : 0;
    if (row < 0 || row + Tiles::kRows > work.rows) return false;
    if (work.source_ld > work.cols) return (kBeyond == 0 || col > 0) && col + Tiles::kCols + kBeyond <= work.cols;
    return row * work.cols + col >= kBeyond &&
           (row + Tiles::kRows - 1) * work.cols + col + Tiles::kCols + kBeyond <= work.rows * work.cols;
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident) transpose_ragged(matrix_work work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    CORNERTURN_DYNAMIC_SHARED(typename tiles::word, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tiles::kMoved, col = index.col * tiles::kCols, matrix = blockIdx.z;
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;

    const std::int64_t first_row = row - tiles::kBack;
    if (is_inside<tiles, kElement>(work, first_row, col)) {
        tiles::template load<true>(source, from_pitch, first_row, col, work.rows, work.cols, tile);
    } else {
        tiles::template load<false>(source, from_pitch, first_row, col, work.rows, work.cols, tile);
    }
    __syncthreads();
    byte* const line = destination + col * to_pitch + row * kElement;
    if (first_row >= 0 && row + tiles::kMoved <= work.rows) {
        tiles::template store<true>(line, to_pitch, row, work.rows, work.cols - col, tile);
    } else {
        tiles::template store<false>(line, to_pitch, row, work.rows, work.cols - col, tile);
    }
}

// A batch whose rows follow each other in the source as one matrix's would: work.rows are all of them, rows_of_one to a
// matrix. Words are aligned in the destination, and none has rows of two matrices.
template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident) transpose_stacked(matrix_work work, unsigned rows_of_one) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    CORNERTURN_DYNAMIC_SHARED(typename tiles::word, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tiles::kRows, col = index.col * tiles::kCols;
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source);
    if (is_inside<tiles, kElement>(work, row, col)) {
        tiles::template load<true>(source, from_pitch, row, col, work.rows, work.cols, tile);
    } else {
        tiles::template load<false>(source, from_pitch, row, col, work.rows, work.cols, tile);
    }
    __syncthreads();
    const unsigned g_row = threadIdx.x % kGroups * tiles::kPerWord;
    if (row + g_row >= work.rows) return;
    const std::int64_t first_matrix = row / rows_of_one;
    const auto past = static_cast<unsigned>(row - first_matrix * rows_of_one) + g_row;
    byte* const to = static_cast<byte*>(work.destination) +
                     ((first_matrix + past / rows_of_one) * work.destination_stride + past % rows_of_one) * kElement +
                     col * to_pitch;
    tiles::store_aligned(to, to_pitch, work.cols - col, tile);
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
void run(const matrix_work& work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    for_each_slab<column_major, operation::transpose>(
        work, {tiles::kMoved, tiles::kCols, tiles::kBack}, dim3(kThreads),
        [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            launch(shape, transpose_ragged<kElement, kGroups, kWordsPerRow, kThreads, kResident>, part);
        });
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
void run_stacked(const matrix_work& work) {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    matrix_work stack = work;
    stack.rows = work.rows * work.count;
    stack.count = 1;
    for_each_slab<column_major, operation::transpose>(
        stack, {tiles::kRows, tiles::kCols}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            shape.tiles = nullptr;  // where a tile goes depends on its matrix
            launch(shape, transpose_stacked<kElement, kGroups, kWordsPerRow, kThreads, kResident>, part,
                   static_cast<unsigned>(work.rows));
        });
}

template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
constexpr production_kernel tuned() {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    return {{path::ragged, kElement, tiles::kMoved, tiles::kCols, kThreads},
            &run<kElement, kGroups, kWordsPerRow, kThreads, kResident>};
}
template <int kElement, int kGroups, int kWordsPerRow, int kThreads, int kResident>
constexpr production_kernel stacked() {
    using tiles = ragged_tile<kElement, kGroups, kWordsPerRow, kThreads, kResident>;
    return {{path::stacked, kElement, tiles::kRows, tiles::kCols, kThreads},
            &run_stacked<kElement, kGroups, kWordsPerRow, kThreads, kResident>};
}

// From narrow and tall tiles, for matrices of few columns, to square ones.
constexpr production_kernel kKernels[] = {
    tuned<4, 512, 8, 512, 2048>(),    tuned<4, 256, 16, 256, 2048>(),   tuned<4, 128, 32, 256, 2048>(),
    tuned<4, 64, 64, 256, 2048>(),    tuned<8, 256, 8, 256, 1536>(),    tuned<8, 128, 16, 256, 1536>(),
    tuned<8, 64, 32, 256, 1024>(),    tuned<8, 64, 64, 512, 1536>(),    tuned<16, 256, 4, 256, 2048>(),
    tuned<16, 128, 8, 256, 2048>(),   tuned<16, 64, 16, 256, 2048>(),   tuned<16, 64, 32, 512, 2048>(),  //
    stacked<4, 256, 8, 256, 2048>(),  stacked<4, 128, 16, 256, 2048>(), stacked<4, 128, 32, 256, 2048>(),
    stacked<4, 64, 64, 256, 2048>(),  stacked<4, 32, 128, 256, 2048>(), stacked<8, 128, 8, 256, 2048>(),
    stacked<8, 64, 32, 256, 1024>(),  stacked<8, 32, 64, 256, 1024>(),  stacked<16, 64, 8, 256, 2048>(),
    stacked<16, 32, 32, 256, 1024>(),
};

}  // namespace

production_kernels ragged_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
