// Matrices with few rows: what is written lies in memory without gaps, and is written as it lies.
#include "ops/transpose/kernels/kernels.hpp"
#include "ops/transpose/kernels/staged.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256;
constexpr int kTileBytes = 16 << 10;  // staged by a block, about

// The first element of this block's part of a destination without gaps: parts are whole sectors of memory.
template <int kElement>
__device__ __forceinline__ std::int64_t first_of_part(const byte* destination) {
    const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(destination) % kSectorBytes / kElement);
    return static_cast<std::int64_t>(blockIdx.x) * (kTileBytes / kElement) - past;
}
template <int kElement>
unsigned parts_of(std::int64_t total) {
    constexpr int kCount = kTileBytes / kElement;
    return static_cast<unsigned>((total + kSectorBytes / kElement - 1 + kCount - 1) / kCount);
}

// Few rows, and no gap behind the destination's. Words of the source's rows are scattered into the part of the
// destination that the block writes, and that is then written as it lies.
template <int kElement>
__global__ void __launch_bounds__(kThreads) transpose_wide(matrix_work work, divider by_words) {
    using stage = staged<kElement>;
    using word = word_t<kElement>;
    __shared__ word part[kTileBytes / kWordBytes<kElement> + kTileBytes / 128 + 1];
    constexpr int kWord = kWordBytes<kElement>, kPerWord = kElementsPerWord<kElement>;
    constexpr int kCount = kTileBytes / kElement, kBeyond = kElement < 4 ? 8 / kElement : 0;
    const int rows = static_cast<int>(work.rows), words_per_row = static_cast<int>(by_words.d);
    const std::int64_t matrix = blockIdx.z, total = work.rows * work.cols, pitch = work.source_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const std::int64_t first = first_of_part<kElement>(destination);
    const std::int64_t first_col = first > 0 ? first / rows : 0;
    const int before = static_cast<int>(first - first_col * rows);
    const bool inside = first_col > kBeyond && first_col + words_per_row * kPerWord + kBeyond <= work.cols;

    constexpr int kAtOnce = 4;
    CORNERTURN_UNROLL_BY(1)
    for (int i0 = static_cast<int>(threadIdx.x); i0 < rows * words_per_row; i0 += kAtOnce * kThreads) {
        word words[kAtOnce];
        int offsets[kAtOnce];  // of the first element in this part of the destination
        CORNERTURN_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
            const int i = i0 + k * kThreads, r = by_words.quotient(i), w = i - r * words_per_row;
            const byte* const line = source + r * pitch;
            const byte* const from = line + (first_col + w * kPerWord) * kElement;
            offsets[k] = w * kPerWord * rows + r - before;
            if (inside && r < rows) {
                words[k] = load_word<kElement>(from);
            } else if (r < rows && first_col + w * kPerWord < work.cols) {
                words[k] = load_word_within<kElement>(from, line, line + work.cols * kElement);
            } else {
                offsets[k] = kCount;  // nowhere
            }
        }
        CORNERTURN_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
            if constexpr (kPerWord == 1) {
                if (static_cast<unsigned>(offsets[k]) < kCount) part[stage::slot(offsets[k])] = words[k];
            } else {
                CORNERTURN_UNROLL
                for (int e = 0; e < kPerWord; ++e) {
                    const int to = (offsets[k] + e * rows) * kElement;
                    if (static_cast<unsigned>(to) < kTileBytes) {
                        *reinterpret_cast<storage_t<kElement>*>(reinterpret_cast<byte*>(part) + to + to / 128 * kWord) =
                            static_cast<storage_t<kElement>>(words[k] >> 8 * kElement * e);
                    }
                }
            }
        }
    }
    __syncthreads();

    CORNERTURN_UNROLL_BY(4)
    for (int w = static_cast<int>(threadIdx.x); w < kCount / kPerWord; w += kThreads) {
        const std::int64_t at = first + w * kPerWord;
        if (at >= 0 && at + kPerWord <= total) {
            store_word<kElement>(destination + at * kElement, part[stage::slot(w)]);
        } else if (at + kPerWord > 0 && at < total) {
            store_word_within<kElement>(destination, at, total,
                                        [&](int e) { return stage::get(part, w * kWord + e * kElement); });
        }
    }
}

template <int kElement>
void run_wide(const matrix_work& work) {
    const auto rows = static_cast<int>(work.rows);
    // A part's columns, with those that it shares with its neighbours.
    const int cols = kTileBytes / kElement / rows + 2, words = (cols * kElement + 3) / kWordBytes<kElement>;
    const divider by_words(static_cast<unsigned>(kElement < 4 ? words : cols));
    for_each_grid(work, parts_of<kElement>(work.rows * work.cols), dim3(kThreads),
                  [&](const launch_shape& shape, const matrix_work& part) {
                      launch(shape, transpose_wide<kElement>, part, by_words);
                  });
}

template <int kElement>
constexpr production_kernel wide() {
    return {{path::wide, kElement, 0, 0, kThreads}, &run_wide<kElement>};
}
constexpr production_kernel kKernels[] = {
    wide<1>(), wide<2>(), wide<4>(), wide<8>(), wide<16>(),
};

}  // namespace

production_kernels narrow_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
