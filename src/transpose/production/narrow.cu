// Matrices with few rows, and small ones: what is written lies in memory without gaps, and is written as it lies.
//
// Shared memory holds what was read, in words; behind each line of 32 banks one bank is left out, so that elements
// which lie a power of two apart fall into different banks.
#include "transpose/production/kernels.hpp"
#include "transpose/production/words.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256;
constexpr int kTileBytes = 16 << 10;  // staged by a block, about
constexpr int kSectorBytes = 32;

template <int kElement>
struct staged {
    static constexpr int kWord = kWordBytes<kElement>, kWordsPerLine = 128 / kWord;
    using word = word_t<kElement>;
    using element = storage_t<kElement>;

    static constexpr int words_for(int bytes) {
        const int words = (bytes + kWord - 1) / kWord;
        return words + words / kWordsPerLine + 1;
    }
    static __device__ __forceinline__ int place(int word) { return word + word / kWordsPerLine; }
    static __device__ __forceinline__ element get(const word* stage, int offset) {
        const int word = offset / kWord;
        return value_at<element>(reinterpret_cast<const byte*>(stage + place(word)) + offset % kWord);
    }

    // Stages the bytes [begin, end) of a matrix that has none outside of [first, last). Returns where `begin` lies.
    static __device__ __forceinline__ int load(const byte* begin, const byte* end, const byte* first, const byte* last,
                                               word* stage) {
        const int past = kElement < 4 ? past_word(begin) : 0;
        const byte* const aligned = begin - past;
        const int words = static_cast<int>((end - aligned + kWord - 1) / kWord);
        CORNERTURN_UNROLL_BY(8)
        for (int w = static_cast<int>(threadIdx.x); w < words; w += kThreads) {
            const byte* const from = aligned + std::int64_t{w} * kWord;
            if (from >= first && from + kWord <= last) {
                stage[place(w)] = load_kept(reinterpret_cast<const word*>(from));
            } else if constexpr (kElement < 4) {
                stage[place(w)] = load_elements_within<kElement>(from, first, last);
            }
        }
        return past;
    }
};

// x / d for x * d < 2^32, by a multiplication.
struct divider {
    unsigned d, magic;
    explicit divider(unsigned by) : d(by), magic(static_cast<unsigned>((std::uint64_t{1} << 32) / by + 1)) {}
    __device__ __forceinline__ int quotient(int x) const {
        if (d == 1) return x;  // its magic number does not fit
        return static_cast<int>(static_cast<std::uint64_t>(static_cast<unsigned>(x)) * magic >> 32);
    }
};

// Writes elements [first, first + kCount) of a destination that has `total` and no gaps: cursor_at(i) stands at element
// first + i, get() gives it, and advance() goes to the next.
template <int kElement, class CursorAt>
__device__ __forceinline__ void store_flat(byte* destination, std::int64_t first, std::int64_t total,
                                           CursorAt cursor_at) {
    constexpr int kPerWord = kElementsPerWord<kElement>, kCount = kTileBytes / kElement;
    CORNERTURN_UNROLL_BY(4)
    for (int i = static_cast<int>(threadIdx.x) * kPerWord; i < kCount; i += kThreads * kPerWord) {
        const std::int64_t at = first + i;
        if (at + kPerWord <= 0 || at >= total) continue;
        auto cursor = cursor_at(at < 0 ? static_cast<int>(-first) : i);
        store_word_within<kElement>(destination, at, total, [&](int) {
            const auto value = cursor.get();
            cursor.advance();
            return value;
        });
    }
}

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
                if (static_cast<unsigned>(offsets[k]) < kCount) part[stage::place(offsets[k])] = words[k];
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
            store_word<kElement>(destination + at * kElement, part[stage::place(w)]);
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
    for (std::int64_t first = 0; first < work.count; first += kMaxGridZ) {
        matrix_work part = work;
        part.source = static_cast<const byte*>(work.source) + first * work.source_stride * kElement;
        part.destination = static_cast<byte*>(work.destination) + first * work.destination_stride * kElement;
        part.count = work.count - first < kMaxGridZ ? work.count - first : kMaxGridZ;
        launch({dim3(parts_of<kElement>(work.rows * work.cols), 1, static_cast<unsigned>(part.count)), dim3(kThreads)},
               transpose_wide<kElement>, part, divider(static_cast<unsigned>(kElement < 4 ? words : cols)));
    }
}

// Small matrices that lie behind each other on both sides, many to a block.
template <int kElement>
__global__ void __launch_bounds__(kThreads) transpose_small(matrix_work work, divider by_matrix, divider by_rows) {
    using stage = staged<kElement>;
    CORNERTURN_DYNAMIC_SHARED(typename stage::word, staged_matrices);
    const int rows = static_cast<int>(work.rows), cols = static_cast<int>(work.cols), size = rows * cols;
    const std::int64_t total = work.count * size;
    const byte* const source = static_cast<const byte*>(work.source);
    byte* const destination = static_cast<byte*>(work.destination);
    const std::int64_t first = first_of_part<kElement>(destination);
    const std::int64_t first_matrix = first > 0 ? first / size : 0;
    std::int64_t end = (first + kTileBytes / kElement + size - 1) / size * size;
    if (end > total) end = total;
    const int past = stage::load(source + first_matrix * size * kElement, source + end * kElement, source,
                                 source + total * kElement, staged_matrices);
    __syncthreads();

    struct cursor {
        const typename stage::word* stage_words;
        int rows, cols, row, col, offset;  // offset: of (row, col), in bytes
        __device__ __forceinline__ storage_t<kElement> get() const { return stage::get(stage_words, offset); }
        __device__ __forceinline__ void advance() {
            offset += cols * kElement;
            if (++row < rows) return;
            row = 0;
            offset -= (rows * cols - 1) * kElement;
            if (++col < cols) return;
            col = 0;
            offset += (rows - 1) * cols * kElement;
        }
    };
    const int before = static_cast<int>(first - first_matrix * size);
    store_flat<kElement>(destination, first, total, [&](int i) {
        const int m = by_matrix.quotient(before + i), within = before + i - m * size;
        const int col = by_rows.quotient(within), row = within - col * rows;
        return cursor{staged_matrices, rows, cols, row, col, past + (m * size + row * cols + col) * kElement};
    });
}

template <int kElement>
void run_small(const matrix_work& work) {
    const auto size = static_cast<int>(work.rows * work.cols);
    const int bytes = kTileBytes + 2 * size * kElement + kVectorBytes;
    launch({dim3(parts_of<kElement>(work.count * size)), dim3(kThreads),
            static_cast<std::size_t>(staged<kElement>::words_for(bytes)) * kWordBytes<kElement>},
           transpose_small<kElement>, work, divider(static_cast<unsigned>(size)),
           divider(static_cast<unsigned>(work.rows)));
}

template <int kElement>
constexpr production_kernel wide() {
    return {{path::wide, kElement, 0, 0, kThreads}, &run_wide<kElement>};
}
template <int kElement>
constexpr production_kernel small() {
    return {{path::small, kElement, 0, 0, kThreads}, &run_small<kElement>};
}

constexpr production_kernel kKernels[] = {
    wide<1>(), wide<2>(), wide<4>(), wide<8>(), wide<16>(), small<1>(), small<2>(), small<4>(), small<8>(), small<16>(),
};

}  // namespace

production_kernels narrow_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
