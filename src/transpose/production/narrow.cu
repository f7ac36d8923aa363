// Matrices with few columns, few rows, or both: one side is read or written as it lies in memory, without gaps.
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
        return at<element>(reinterpret_cast<const byte*>(stage + place(word)) + offset % kWord);
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

// Few columns and no gap behind them: 2^log_rows rows a block.
template <int kElement>
__global__ void __launch_bounds__(kThreads) transpose_tall(matrix_work work, int log_rows) {
    using stage = staged<kElement>;
    CORNERTURN_DYNAMIC_SHARED(typename stage::word, staged_rows);
    constexpr int kPerWord = kElementsPerWord<kElement>;
    // Each row of the destination is written by whole sectors, so it may begin so many rows back.
    constexpr int kBack = kSectorBytes / kElement - 1;
    const int cols = static_cast<int>(work.cols);
    const std::int64_t tile_row = std::int64_t{blockIdx.x} << log_rows, matrix = blockIdx.z;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const std::int64_t pitch = work.destination_ld * kElement;

    const std::int64_t first_row = tile_row > kBack ? tile_row - kBack : 0;
    std::int64_t end_row = tile_row + (std::int64_t{1} << log_rows);
    if (end_row > work.rows) end_row = work.rows;
    const int past = stage::load(source + first_row * cols * kElement, source + end_row * cols * kElement, source,
                                 source + work.rows * cols * kElement, staged_rows);
    __syncthreads();

    const int log_words = log_rows - (kPerWord == 4 ? 2 : kPerWord == 2 ? 1 : 0);
    CORNERTURN_UNROLL_BY(4)
    for (int i = static_cast<int>(threadIdx.x); i < cols << log_words; i += kThreads) {
        const int c = i >> log_words, w = i & ((1 << log_words) - 1);
        byte* const line = destination + c * pitch;
        const int back =
            static_cast<int>(reinterpret_cast<std::uintptr_t>(line + tile_row * kElement) % kSectorBytes / kElement);
        const std::int64_t row = tile_row + w * kPerWord - back;
        const int offset = past + (static_cast<int>(row - first_row) * cols + c) * kElement;
        store_word_within<kElement>(line, row, work.rows,
                                    [&](int k) { return stage::get(staged_rows, offset + k * cols * kElement); });
    }
}

template <int kElement>
void run_tall(const matrix_work& work) {
    const auto cols = static_cast<int>(work.cols);
    int log_rows = 5;
    while (cols * kElement << (log_rows + 1) <= kTileBytes) ++log_rows;
    constexpr int kBack = kSectorBytes / kElement - 1;
    const int rows = 1 << log_rows;
    // One column of tiles.
    for_each_slab<column_major, operation::transpose>(
        work, {rows, cols, kBack}, dim3(kThreads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes =
                static_cast<std::size_t>(staged<kElement>::words_for((rows + kBack) * cols * kElement + 8)) *
                kWordBytes<kElement>;
            launch(shape, transpose_tall<kElement>, part, log_rows);
        });
}

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

// Few rows, and no gap behind the destination's. The source's rows are staged one behind the other, each from the word
// on that its first column of the part lies in.
template <int kElement>
__global__ void __launch_bounds__(kThreads)
    transpose_wide(matrix_work work, divider by_rows, divider by_words, int pitch) {
    using word = word_t<kElement>;
    CORNERTURN_DYNAMIC_SHARED(word, staged_rows);
    constexpr int kWord = kWordBytes<kElement>;
    const int rows = static_cast<int>(work.rows), words_per_row = static_cast<int>(by_words.d);
    const std::int64_t matrix = blockIdx.z, total = work.rows * work.cols, source_pitch = work.source_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const std::int64_t first = first_of_part<kElement>(destination);
    const std::int64_t first_col = first > 0 ? first / rows : 0;

    CORNERTURN_UNROLL_BY(8)
    for (int i = static_cast<int>(threadIdx.x); i < rows * words_per_row; i += kThreads) {
        const int r = by_words.quotient(i), w = i - r * words_per_row;
        const byte* const line = source + r * source_pitch;
        const byte* const end = line + work.cols * kElement;
        const byte* const from = line + first_col * kElement;
        const byte* const aligned = from - (kElement < 4 ? past_word(from) : 0) + w * kWord;
        if (aligned >= end) continue;
        if (kElement >= 4 || (aligned >= line && aligned + kWord <= end)) {
            staged_rows[r * pitch + w] = load_kept(reinterpret_cast<const word*>(aligned));
        } else if constexpr (kElement < 4) {
            staged_rows[r * pitch + w] = load_elements_within<kElement>(aligned, line, end);
        }
    }
    __syncthreads();

    struct cursor {
        const byte* stage;
        int rows, pitch, past, past_step, row, col;
        __device__ __forceinline__ storage_t<kElement> get() const {
            const int past_of_row = kElement < 4 ? (past + row * past_step) & 3 : 0;
            return at<storage_t<kElement>>(stage + row * pitch + past_of_row + col * kElement);
        }
        __device__ __forceinline__ void advance() {
            if (++row == rows) {
                row = 0;
                ++col;
            }
        }
    };
    const int before = static_cast<int>(first - first_col * rows);
    const int past = past_word(source + first_col * kElement), past_step = static_cast<int>(source_pitch & 3);
    store_flat<kElement>(destination, first, total, [&](int i) {
        const int col = by_rows.quotient(before + i);
        return cursor{reinterpret_cast<const byte*>(staged_rows),
                      rows,
                      pitch * kWord,
                      past,
                      past_step,
                      before + i - col * rows,
                      col};
    });
}

template <int kElement>
void run_wide(const matrix_work& work) {
    constexpr int kWord = kWordBytes<kElement>;
    const auto rows = static_cast<int>(work.rows);
    // A part's columns, with those that it shares with its neighbours, and a word that they begin in the middle of.
    const int cols = kTileBytes / kElement / rows + 2;
    const int words = (cols * kElement + kWord - 1) / kWord + 1, pitch = words | 1;
    for (std::int64_t first = 0; first < work.count; first += kMaxGridZ) {
        matrix_work part = work;
        part.source = static_cast<const byte*>(work.source) + first * work.source_stride * kElement;
        part.destination = static_cast<byte*>(work.destination) + first * work.destination_stride * kElement;
        part.count = work.count - first < kMaxGridZ ? work.count - first : kMaxGridZ;
        launch({dim3(parts_of<kElement>(work.rows * work.cols), 1, static_cast<unsigned>(part.count)), dim3(kThreads),
                static_cast<std::size_t>(rows) * static_cast<std::size_t>(pitch) * kWord},
               transpose_wide<kElement>, part, divider(static_cast<unsigned>(rows)),
               divider(static_cast<unsigned>(words)), pitch);
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

template <path kPath, int kElement>
constexpr production_kernel tuned() {
    return {{kPath, kElement, 0, 0, kThreads},
            kPath == path::tall   ? &run_tall<kElement>
            : kPath == path::wide ? &run_wide<kElement>
                                  : &run_small<kElement>};
}

constexpr production_kernel kKernels[] = {
    tuned<path::tall, 1>(),  tuned<path::tall, 2>(),  tuned<path::tall, 4>(),   tuned<path::tall, 8>(),
    tuned<path::tall, 16>(), tuned<path::wide, 1>(),  tuned<path::wide, 2>(),   tuned<path::wide, 4>(),
    tuned<path::wide, 8>(),  tuned<path::wide, 16>(), tuned<path::small, 1>(),  tuned<path::small, 2>(),
    tuned<path::small, 4>(), tuned<path::small, 8>(), tuned<path::small, 16>(),
};

}  // namespace

production_kernels narrow_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
