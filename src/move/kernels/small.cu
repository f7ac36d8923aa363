// Batches of small matrices, packed on both sides.
//
// A block takes a run of whole matrices and reads it in vectors of 16 bytes. It writes from shared memory. If rows and
// columns are whole words, it transposes squares of words in registers. Otherwise it goes element by element.
#include "move/kernels/kernels.hpp"
#include "move/kernels/staged.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = moves::kSmallThreads;
using moves::kSmallRunBytes;  // unless one matrix is larger

// Stages the bytes [begin, end) in whole vectors. Of the bytes around them, only those in [first, last) are read.
// kInside: all of these exist. Returns the position of `begin`.
template <int kElement, bool kInside>
__device__ __forceinline__ int load_run(const byte* begin, const byte* end, const byte* first, const byte* last,
                                        bool keeps_lines, word_t<kElement>* run) {
    using stage = staged<kElement>;
    using word = word_t<kElement>;
    const read_policy read(keeps_lines);
    constexpr int kWord = stage::kWord, kWords = kVectorBytes / kWord, kAtOnce = kInside ? 4 : 1;
    union vector {
        uint4 whole;
        word words[kWords];
    };
    const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % kVectorBytes);
    const auto count = static_cast<int>(end - begin + past + kVectorBytes - 1) / kVectorBytes;
    const byte* from = begin - past + threadIdx.x * kVectorBytes;
    CORNERTURN_UNROLL_BY(1)
    for (int v0 = static_cast<int>(threadIdx.x); v0 < count; v0 += kAtOnce * kThreads) {
        vector vectors[kAtOnce];
        CORNERTURN_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
            if (v0 + k * kThreads >= count) continue;
            const byte* const at = from + k * (kThreads * kVectorBytes);
            if (kInside || (at >= first && at + kVectorBytes <= last)) {
                vectors[k].whole = read.load(reinterpret_cast<const uint4*>(at));
            } else {
                CORNERTURN_UNROLL
                for (int w = 0; w < kWords; ++w) {
                    if constexpr (kElement < 4) {
                        vectors[k].words[w] = load_elements_within<kElement>(at + w * kWord, first, last);
                    } else {
                        const bool there = at + w * kWord >= first && at + w * kWord < last;
                        vectors[k].words[w] = there ? value_at<word>(at + w * kWord) : word{};
                    }
                }
            }
        }
        CORNERTURN_UNROLL
        for (int k = 0; k < kAtOnce; ++k) {
            const int v = v0 + k * kThreads;
            if (v >= count) continue;
            CORNERTURN_UNROLL
            for (int w = 0; w < kWords; ++w) run[stage::slot(v * kWords) + w] = vectors[k].words[w];
        }
        from += kAtOnce * kThreads * kVectorBytes;
    }
    return past;
}

// Where elements of the destination come from, one after the other.
template <int kElement>
struct cursor {
    const word_t<kElement>* run;
    int rows, cols, row, col, offset;  // offset: of (row, col), in bytes

    __device__ __forceinline__ storage_t<kElement> get() const { return staged<kElement>::get(run, offset); }
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

// kSquares: rows and columns are whole words, so the matrices are aligned. A matrix has by_matrix.d elements or
// squares, and by_rows.d of these in a column.
template <int kElement, bool kSquares>
__global__ void CORNERTURN_RESIDENT(kThreads, 2048)
    transpose_small(moves::matrices_work work, int matrices, divider by_matrix, divider by_rows) {
    using stage = staged<kElement>;
    using word = typename stage::word;
    constexpr int kWord = stage::kWord, kPerWord = kElementsPerWord<kElement>;
    CORNERTURN_DYNAMIC_SHARED(word, run);
    const int rows = static_cast<int>(work.rows), cols = static_cast<int>(work.cols), size = rows * cols;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * matrices, left = work.count - first;
    const int here = left < matrices ? static_cast<int>(left) : matrices, count = here * size;
    const byte* const source = static_cast<const byte*>(work.source);
    const byte* const begin = source + first * size * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + first * size * kElement;
    const byte *const end = begin + count * kElement, *const last = source + work.count * size * kElement;
    // Vectors at both ends may reach up to one vector beyond the run.
    const bool inside = begin - source >= kVectorBytes && last - end >= kVectorBytes;
    const int past = inside ? load_run<kElement, true>(begin, end, source, last, work.keeps_lines, run)
                            : load_run<kElement, false>(begin, end, source, last, work.keeps_lines, run);
    __syncthreads();
    if constexpr (kSquares) {
        const auto down = static_cast<int>(by_rows.d), across = cols / kPerWord, squares = here * (across * down);
        // Narrow elements take so many registers that more at a time is slower (docs/experiments/copies.md, 98).
        [[maybe_unused]] constexpr int kAtOnce = kPerWord == 1 ? 4 : 1;
        CORNERTURN_UNROLL_BY(kAtOnce)
        for (int s = static_cast<int>(threadIdx.x); s < squares; s += kThreads) {
            const int m = by_matrix.quotient(s), within = s - m * (across * down);
            const int c = by_rows.quotient(within), r = within - c * down, matrix = m * (across * down * kPerWord);
            const int from = past / kWord + matrix + r * kPerWord * across + c, to = matrix + c * kPerWord * down + r;
            word in[kPerWord], out[kPerWord];
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerWord; ++k) in[k] = run[stage::slot(from + k * across)];
            transpose_words<kElement>(in, out);
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerWord; ++k) store_word<kElement>(destination + (to + k * down) * kWord, out[k]);
        }
    } else {
        const int before = past_word(destination) / kElement;  // elements of the run before, in the first word
        CORNERTURN_UNROLL_BY(2)
        for (int i = static_cast<int>(threadIdx.x) * kPerWord - before; i < count; i += kThreads * kPerWord) {
            const int at = i < 0 ? 0 : i, m = by_matrix.quotient(at), within = at - m * size;
            const int col = by_rows.quotient(within), row = within - col * rows;
            cursor<kElement> next{run, rows, cols, row, col, past + (m * size + row * cols + col) * kElement};
            store_word_within<kElement>(destination, i, count, [&](int) {
                const auto value = next.get();
                next.advance();
                return value;
            });
        }
    }
}

template <int kElement>
void run_small(const moves::matrices_work& work, const gpu&) {
    constexpr int kPerWord = kElementsPerWord<kElement>;
    const auto size = static_cast<int>(work.rows * work.cols);
    const int matrices = size * kElement < kSmallRunBytes ? kSmallRunBytes / (size * kElement) : 1;
    const auto bits =
        reinterpret_cast<std::uintptr_t>(work.source) | reinterpret_cast<std::uintptr_t>(work.destination);
    const bool squares = kPerWord == 1 || (((work.rows | work.cols) * kElement) % 4 == 0 && bits % 4 == 0);
    const auto blocks = static_cast<unsigned>((work.count + matrices - 1) / matrices);
    const int words = staged<kElement>::words_for(matrices * size * kElement + 2 * kVectorBytes);
    const launch_shape shape{dim3(blocks), dim3(kThreads), static_cast<std::size_t>(words) * kWordBytes<kElement>};
    const auto start = [&](auto kernel, int side) {
        const int down = static_cast<int>(work.rows) / side;
        launch(shape, kernel, work, matrices, divider(static_cast<unsigned>(size / (side * side))),
               divider(static_cast<unsigned>(down)));
    };
    if (squares) return start(transpose_small<kElement, true>, kPerWord);
    if constexpr (kPerWord > 1) start(transpose_small<kElement, false>, 1);
}

struct small_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_small<moves::kSmall.rows[kRow].unit>;
    }
};

}  // namespace

run_work small_kernel(int row) { return kernel_of_row<small_rows>(row, moves::kSmall.rows); }

}  // namespace CORNERTURN_KERNELS
