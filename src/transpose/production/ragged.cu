// Tiles of any alignment, by words: 4 bytes, or an element that is wider.
//
// Elements narrower than a word are shifted into place as they are loaded: two aligned words of the source make one of
// the tile. Rows of the destination are written by aligned words as well, so each column of the tile begins up to kBack
// rows earlier than its neighbour might, and the tile holds that many rows more.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kElement, int kTileRows, int kTileCols, int kThreads>
struct ragged_tile {
    static constexpr int kWord = kWordBytes<kElement>, kPerWord = kWord / kElement;
    static constexpr int kBack = kPerWord - 1;
    static constexpr int kWordsPerRow = kTileCols / kPerWord, kWordsPerCol = kTileRows / kPerWord;
    static constexpr int kPitch = kWordsPerRow + 1;  // in words; odd: a column of words has one in each bank
    static constexpr int kRows = kTileRows + kBack;
    using word = word_t<kElement>;
};

template <int kElement, int kTileRows, int kTileCols, int kThreads>
__global__ void __launch_bounds__(kThreads) transpose_ragged(matrix_work work) {
    using shape = ragged_tile<kElement, kTileRows, kTileCols, kThreads>;
    using word = typename shape::word;
    __shared__ word tile[shape::kRows * shape::kPitch];
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * kTileRows, col = index.col * kTileCols, matrix = blockIdx.z;
    const std::int64_t source_pitch = work.source_ld * kElement, destination_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const int thread = static_cast<int>(threadIdx.x);
    // All rows and columns there, with a word to spare on either side.
    const bool inside = row >= shape::kBack && row + kTileRows <= work.rows && col >= shape::kBack &&
                        col + kTileCols + 2 * shape::kBack <= work.cols;

    constexpr int kWords = shape::kRows * shape::kWordsPerRow, kRounds = (kWords + kThreads - 1) / kThreads;
    if (inside) {
        const byte* const first = source + (row - shape::kBack) * source_pitch + col * kElement;
        constexpr int kWhole = kWords / kThreads;
        word words[kWhole];
        CORNERTURN_UNROLL
        for (int i = 0; i < kWhole; ++i) {
            const int w = thread + i * kThreads;
            words[i] = load_word<kElement>(first + w / shape::kWordsPerRow * source_pitch +
                                           w % shape::kWordsPerRow * shape::kWord);
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kWhole; ++i) {
            const int w = thread + i * kThreads;
            tile[w / shape::kWordsPerRow * shape::kPitch + w % shape::kWordsPerRow] = words[i];
        }
        if (const int w = thread + kWhole * kThreads; w < kWords) {
            tile[w / shape::kWordsPerRow * shape::kPitch + w % shape::kWordsPerRow] = load_word<kElement>(
                first + w / shape::kWordsPerRow * source_pitch + w % shape::kWordsPerRow * shape::kWord);
        }
    } else {
        CORNERTURN_UNROLL_BY(4)
        for (int i = 0; i < kRounds; ++i) {
            const int w = thread + i * kThreads;
            const std::int64_t from_row = row - shape::kBack + w / shape::kWordsPerRow;
            const std::int64_t from_col = col + w % shape::kWordsPerRow * shape::kPerWord;
            if (w >= kWords || from_row < 0 || from_row >= work.rows || from_col >= work.cols) continue;
            const byte* const line = source + from_row * source_pitch;
            tile[w / shape::kWordsPerRow * shape::kPitch + w % shape::kWordsPerRow] =
                load_word_within<kElement>(line + from_col * kElement, line, line + work.cols * kElement);
        }
    }
    __syncthreads();

    CORNERTURN_UNROLL_BY(4)
    for (int i = 0; i < kTileCols * shape::kWordsPerCol / kThreads; ++i) {
        const int w = thread + i * kThreads;
        const int c = w / shape::kWordsPerCol;
        if (!inside && col + c >= work.cols) continue;
        byte* const line = destination + (col + c) * destination_pitch;
        const int back = shape::kBack > 0 ? past_word(line + row * kElement) / kElement : 0;
        const int r = w % shape::kWordsPerCol * shape::kPerWord - back;
        const byte* const from =
            reinterpret_cast<const byte*>(tile) + (r + shape::kBack) * shape::kPitch * shape::kWord + c * kElement;
        if (inside) {
            store_word<kElement>(line + (row + r) * kElement,
                                 gather_word<kElement>(from, shape::kPitch * shape::kWord));
        } else {
            store_word_within<kElement>(line, row + r, work.rows, [&](int i) {
                return at<storage_t<kElement>>(from + i * shape::kPitch * shape::kWord);
            });
        }
    }
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const matrix_work& work) {
    using shape = ragged_tile<kElement, kTileRows, kTileCols, kThreads>;
    for_each_slab<column_major, operation::transpose>(
        work, {kTileRows, kTileCols, shape::kBack}, dim3(kThreads),
        [&](const launch_shape& s, const matrix_work& part) {
            launch(s, transpose_ragged<kElement, kTileRows, kTileCols, kThreads>, part);
        });
}

template <int kElement, int kTileRows, int kTileCols, int kThreads>
constexpr production_kernel tuned() {
    return {{path::ragged, kElement, kTileRows, kTileCols, kThreads}, &run<kElement, kTileRows, kTileCols, kThreads>};
}

constexpr production_kernel kKernels[] = {
    tuned<1, 128, 128, 512>(), tuned<2, 128, 128, 1024>(), tuned<4, 64, 64, 512>(),
    tuned<8, 32, 32, 256>(),   tuned<16, 32, 16, 256>(),
};

}  // namespace

production_kernels ragged_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
