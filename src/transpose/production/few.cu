// Matrices with 2 to 8 columns or rows, that have no gap on the side where these lie beside each other: the flat side.
// What limits these is the number of instructions, so nearly all that can be known is known to the compiler.
//
// The flat side is read or written by vectors, as it lies, through shared memory. A thread has whole groups of it
// (few_group.hpp), turns them in registers, and reads or writes words of each of the few lines on the other side, the
// lanes of a warp beside each other.
//
// Lines begin anywhere. What is written are aligned words: two that follow each other are shifted into one, and the
// one before comes from the lane before. Reading, both words are loaded.
#include "transpose/production/few_group.hpp"
#include "transpose/production/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256, kBlocks = 6;  // blocks that a multiprocessor is to hold
constexpr int kTileBytes = 16 << 10;        // staged by a block, about

// What both directions share: how the groups of a block are dealt out.
template <int kElement, int kCount>
struct few_tile {
    using group = element_group<kElement, kCount>;
    using layout = group_layout<group::kBytes>;
    static constexpr int kPerThread = kTileBytes / (kThreads * group::kBytes) > 1
                                          ? kTileBytes / (kThreads * group::kBytes)
                                          : 1;
    static constexpr int kGroups = kPerThread * kThreads, kBytes = kGroups * group::kBytes;
    static constexpr int kStep = 32 * group::kWord;  // bytes of a line from one group of a thread to the next

    // A warp has groups that lie behind each other, and so a line's words do that its lanes move together.
    static __device__ __forceinline__ unsigned first_group() {
        return threadIdx.x / 32 * (32 * kPerThread) + threadIdx.x % 32;
    }
};

// Stages kVectors vectors from an address that is aligned to them.
template <class Layout, int kVectors>
__device__ __forceinline__ void stage_vectors(const byte* from, byte* stage) {
    constexpr int kTurns = (kVectors + kThreads - 1) / kThreads, kAtOnce = kTurns <= 5 ? kTurns : (kTurns + 1) / 2;
    constexpr unsigned kLast = kVectors % kThreads == 0 ? kThreads : kVectors % kThreads;  // in the last turn
    const unsigned mine = threadIdx.x * kVectorBytes;
    from += mine;
    stage += Layout::place(mine);
    const auto has = [](int i) { return i < kVectors / kThreads || threadIdx.x < kLast; };
    CORNERTURN_UNROLL
    for (int i0 = 0; i0 < kTurns; i0 += kAtOnce) {
        uint4 vectors[kAtOnce];
        CORNERTURN_UNROLL
        for (int i = i0; i < i0 + kAtOnce && i < kTurns; ++i) {
            if (has(i))
                vectors[i - i0] = load_kept(reinterpret_cast<const uint4*>(from + i * (kThreads * kVectorBytes)));
        }
        CORNERTURN_UNROLL
        for (int i = i0; i < i0 + kAtOnce && i < kTurns; ++i) {
            if (has(i)) *reinterpret_cast<uint4*>(stage + i * (kThreads * kVectorBytes)) = vectors[i - i0];
        }
    }
}

// The same where not all of it lies in [begin, end): what does not is staged as 0.
template <int kElement, class Layout, int kVectors>
__device__ __forceinline__ void stage_vectors_within(const byte* from, const byte* begin, const byte* end,
                                                     byte* stage) {
    CORNERTURN_UNROLL_BY(1)
    for (unsigned v = threadIdx.x; v < kVectors; v += kThreads) {
        const byte* const at = from + v * kVectorBytes;
        uint4 vector{};
        if (at >= begin && at + kVectorBytes <= end) {
            vector = load_kept(reinterpret_cast<const uint4*>(at));
        } else if (at + kVectorBytes > begin && at < end) {
            const auto word_at = [&](const byte* address) {
                if constexpr (kElement < 4) {
                    return load_elements_within<kElement>(address, begin, end);
                } else {
                    return address >= begin && address < end ? value_at<unsigned>(address) : 0u;
                }
            };
            vector = make_uint4(word_at(at), word_at(at + 4), word_at(at + 8), word_at(at + 12));
        }
        *reinterpret_cast<uint4*>(stage + Layout::place(v * kVectorBytes)) = vector;
    }
}

// Writes a word to elements first, first + 1, ... of a line of `count`, as far as they exist.
template <int kElement>
__device__ __forceinline__ void store_part_of_word(byte* line, std::int64_t first, std::int64_t count,
                                                   word_t<kElement> word) {
    store_word_within<kElement>(line, first, count, [word](int i) {
        if constexpr (kElement < 4) {
            return static_cast<storage_t<kElement>>(word >> 8 * kElement * i);
        } else {
            return word;
        }
    });
}

// Few columns. kAligned: the source is aligned to vectors. kShifted: not every row of the destination is to words.
template <int kElement, int kCount, bool kAligned, bool kShifted>
struct few_columns {
    using tile = few_tile<kElement, kCount>;
    using group = typename tile::group;
    using layout = typename tile::layout;
    using word = typename group::word;
    static constexpr int kWord = group::kWord, kPerWord = group::kPerWord, kPerThread = tile::kPerThread;
    static constexpr int kRows = tile::kGroups * kPerWord;
    static_assert(!kShifted || kPerWord > 1);

    // Shared memory has the group before the block's first one too, if that is wanted.
    static constexpr int kBefore = kShifted ? (group::kBytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes : 0;
    static constexpr int kVectors = (kBefore + tile::kBytes) / kVectorBytes + (kAligned ? 0 : 1);

    static __device__ __forceinline__ unsigned past_vector(const byte* address) {
        return kAligned ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address)) % kVectorBytes;
    }

    // The groups of a thread. `offset` is where in shared memory the first one lies; it may be past a word.
    template <int kMany>
    static __device__ __forceinline__ void load(const byte* stage, unsigned offset, group (&groups)[kMany]) {
        if constexpr (kAligned || kPerWord == 1) {
            constexpr int kAccess = kAligned ? layout::kAccess : kWord;
            CORNERTURN_UNROLL
            for (int k = 0; k < group::kBytes / kAccess; ++k) {
                const byte* const at = stage + layout::place(offset + static_cast<unsigned>(k * kAccess));
                CORNERTURN_UNROLL
                for (int i = 0; i < kMany; ++i)
                    groups[i].set_part(k, value_at<storage_t<kAccess>>(at + i * layout::kPeriod));
            }
        } else {
            unsigned before[kMany];
            CORNERTURN_UNROLL
            for (int k = 0; k <= kCount; ++k) {
                const byte* const at = stage + layout::place(offset / 4 * 4 + static_cast<unsigned>(4 * k));
                CORNERTURN_UNROLL
                for (int i = 0; i < kMany; ++i) {
                    const unsigned now = value_at<unsigned>(at + i * layout::kPeriod);
                    if (k > 0) groups[i].registers[k - 1] = __funnelshift_r(before[i], now, 8 * offset);
                    before[i] = now;
                }
            }
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kMany; ++i) groups[i].turn_to_words();
    }

    // Writes what is staged from `offset` on: rows `row` and on of the matrix.
    template <bool kWhole>
    static __device__ __forceinline__ void store(const byte* stage, unsigned offset, byte* destination,
                                                 std::int64_t pitch, std::int64_t row, std::int64_t rows) {
        const unsigned first = tile::first_group();
        group groups[kPerThread], before[1];
        load(stage, offset + first * group::kBytes, groups);
        if constexpr (kShifted)
            load(stage, offset + (first - threadIdx.x % 32) * group::kBytes - group::kBytes, before);
        byte* line = destination + row * kElement + first * kWord;
        CORNERTURN_UNROLL
        for (int k = 0; k < kCount; ++k) {
            const int past = kShifted ? past_word(line) : 0;
            const unsigned shift = 8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line));
            byte* const to = line - past;
            [[maybe_unused]] word last{};  // of the lane before, with the group before
            if constexpr (kShifted) last = before[0].get(k);
            CORNERTURN_UNROLL
            for (int i = 0; i < kPerThread; ++i) {
                word value = groups[i].get(k);
                if constexpr (kShifted) {
                    const word from_lane_before = __shfl_sync(0xffffffffu, value, static_cast<int>(threadIdx.x + 31));
                    value = __funnelshift_l(threadIdx.x % 32 == 0 ? last : from_lane_before, value, shift);
                    last = from_lane_before;
                }
                if constexpr (kWhole) {
                    store_word<kElement>(to + i * tile::kStep, value);
                } else {
                    const std::int64_t at = row + (first + static_cast<unsigned>(32 * i)) * kPerWord - past / kElement;
                    store_part_of_word<kElement>(destination + k * pitch, at, rows, value);
                }
            }
            line += pitch;
        }
    }
};

template <int kElement, int kCount, bool kAligned, bool kShifted>
__global__ void CORNERTURN_RESIDENT(kThreads, kThreads* kBlocks) transpose_few_columns(matrix_work work) {
    using few = few_columns<kElement, kCount, kAligned, kShifted>;
    using layout = typename few::layout;
    __shared__ uint4 staged[few::kVectors];
    byte* const stage = reinterpret_cast<byte*>(staged);
    const std::int64_t matrix = blockIdx.z, row = std::int64_t{blockIdx.x} * few::kRows;
    const std::int64_t pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const byte* const begin = source + row * (kCount * kElement);
    const unsigned past = few::past_vector(begin);
    const byte* const from = begin - past - few::kBefore;
    const unsigned offset = past + few::kBefore;

    const bool inside =
        (blockIdx.x > 0 || (kAligned && !kShifted)) && row + few::kRows + (kAligned ? 0 : kVectorBytes) <= work.rows;
    if (inside) {
        stage_vectors<layout, few::kVectors>(from, stage);
        __syncthreads();
        few::template store<true>(stage, offset, destination, pitch, row, work.rows);
    } else {
        stage_vectors_within<kElement, layout, few::kVectors>(from, source, source + work.rows * (kCount * kElement),
                                                              stage);
        __syncthreads();
        few::template store<false>(stage, offset, destination, pitch, row, work.rows);
    }
}

template <int kElement, int kCount, bool kAligned, bool kShifted>
void start_few_columns(const matrix_work& work) {
    using few = few_columns<kElement, kCount, kAligned, kShifted>;
    // A word that begins before a tile's end may end behind it.
    const std::int64_t rows = work.rows + (kShifted ? few::kPerWord - 1 : 0);
    for_each_grid(work, (rows + few::kRows - 1) / few::kRows, dim3(kThreads),
                  [](const launch_shape& shape, const matrix_work& part) {
                      launch(shape, transpose_few_columns<kElement, kCount, kAligned, kShifted>, part);
                  });
}

template <int kElement, int kCount>
void run_few_columns(const matrix_work& work) {
    const bool aligned = aligned_to(kVectorBytes, work.source, 0, work.source_stride, work);
    if constexpr (kElement < 4) {
        if (!aligned_to(4, work.destination, work.destination_ld, work.destination_stride, work))
            return aligned ? start_few_columns<kElement, kCount, true, true>(work)
                           : start_few_columns<kElement, kCount, false, true>(work);
    }
    if constexpr (kElement < kVectorBytes) {
        if (!aligned) return start_few_columns<kElement, kCount, false, false>(work);
    }
    start_few_columns<kElement, kCount, true, false>(work);
}

// Few rows. kAligned: every row of the source is aligned to words. kFlat: the destination is to vectors; else each
// block writes whole sectors of it, and has groups that its neighbour has too.
template <int kElement, int kCount, bool kAligned, bool kFlat>
struct few_rows {
    using tile = few_tile<kElement, kCount>;
    using group = typename tile::group;
    using layout = typename tile::layout;
    using word = typename group::word;
    static constexpr int kWord = group::kWord, kPerWord = group::kPerWord, kPerThread = tile::kPerThread;
    static_assert(kAligned || kPerWord > 1);
    static constexpr int kBack = kFlat ? 0 : kSectorBytes / kWord;          // groups
    static constexpr int kMoved = tile::kGroups - kBack;                    // by a block
    static constexpr int kVectors = kMoved * group::kBytes / kVectorBytes;  // of the destination

    // Stages the groups from column `col` on; not all of them exist if not kWhole.
    template <bool kWhole>
    static __device__ __forceinline__ void load(const byte* source, std::int64_t pitch, std::int64_t col,
                                                std::int64_t cols, byte* stage) {
        const unsigned first = tile::first_group();
        group groups[kPerThread];
        const byte* line = source + col * kElement + first * kWord;
        CORNERTURN_UNROLL
        for (int k = 0; k < kCount; ++k) {
            const unsigned shift = 8 * static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line));
            const byte* const from = line - (kAligned ? 0 : past_word(line));
            CORNERTURN_UNROLL
            for (int i = 0; i < kPerThread; ++i) {
                word value{};
                if constexpr (kWhole) {
                    const auto* const words = reinterpret_cast<const word*>(from + i * tile::kStep);
                    value = load_kept(words);
                    if constexpr (!kAligned) value = __funnelshift_r(value, load_kept(words + 1), shift);
                } else {
                    const std::int64_t at = col + (first + static_cast<unsigned>(32 * i)) * kPerWord;
                    const byte* const begin = source + k * pitch;
                    if (at >= 0 && at < cols)
                        value = load_word_within<kElement>(begin + at * kElement, begin, begin + cols * kElement);
                }
                groups[i].set(k, value);
            }
            line += pitch;
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerThread; ++i) groups[i].turn_from_words();
        CORNERTURN_UNROLL
        for (int k = 0; k < group::kBytes / layout::kAccess; ++k) {
            using part = storage_t<layout::kAccess>;
            byte* const at = stage + layout::place(first * group::kBytes + static_cast<unsigned>(k * layout::kAccess));
            CORNERTURN_UNROLL
            for (int i = 0; i < kPerThread; ++i)
                *reinterpret_cast<part*>(at + i * layout::kPeriod) = groups[i].template part<part>(k);
        }
    }

    // A vector's words, the first of which begins at `offset` in shared memory, maybe past a word; `turns` of the block
    // further on, where all lies as it does here.
    static __device__ __forceinline__ uint4 vector_at(const byte* stage, unsigned offset, int turns) {
        stage += turns * (kThreads * kVectorBytes);
        if constexpr (kFlat) {
            return value_at<uint4>(stage + layout::place(offset));
        } else if constexpr (kWord == 8) {
            const uint2 low = value_at<uint2>(stage + layout::place(offset));
            const uint2 high = value_at<uint2>(stage + layout::place(offset + 8));
            return make_uint4(low.x, low.y, high.x, high.y);
        } else {
            const unsigned next = (offset + 3) / 4 * 4, shift = 0u - 8 * offset;
            const auto word_at = [=](unsigned at) { return value_at<unsigned>(stage + layout::place(at)); };
            const uint4 words = make_uint4(word_at(next), word_at(next + 4), word_at(next + 8), word_at(next + 12));
            if constexpr (kPerWord == 1) {
                return words;
            } else {
                return make_uint4(__funnelshift_l(word_at(next - 4), words.x, shift),
                                  __funnelshift_l(words.x, words.y, shift), __funnelshift_l(words.y, words.z, shift),
                                  __funnelshift_l(words.z, words.w, shift));
            }
        }
    }

    // Writes kVectors vectors: elements `first` and on of a destination that has `total`. They lie at `offset`.
    template <bool kWhole>
    static __device__ __forceinline__ void store(const byte* stage, unsigned offset, byte* destination,
                                                 std::int64_t first, std::int64_t total, result_policy result) {
        constexpr int kTurns = (kVectors + kThreads - 1) / kThreads;
        constexpr unsigned kLast = kVectors % kThreads == 0 ? kThreads : kVectors % kThreads;  // in the last turn
        const unsigned mine = threadIdx.x * kVectorBytes;
        byte* const to = destination + first * kElement + mine;
        CORNERTURN_UNROLL
        for (int i = 0; i < kTurns; ++i) {
            if (i >= kVectors / kThreads && threadIdx.x >= kLast) break;
            const uint4 vector = vector_at(stage, offset + mine, i);
            if constexpr (kWhole) {
                uint4* const address = reinterpret_cast<uint4*>(to + i * (kThreads * kVectorBytes));
                if constexpr (kElement < 4) {
                    *address = vector;  // a policy would take registers that there are not
                } else {
                    result.store(address, vector);
                }
            } else {
                element_group<kElement, kVectorBytes / kWord> words;
                words.set_part(0, vector);
                const std::int64_t at =
                    first + (threadIdx.x + static_cast<unsigned>(i * kThreads)) * (kVectorBytes / kElement);
                CORNERTURN_UNROLL
                for (int k = 0; k < kVectorBytes / kWord; ++k)
                    store_part_of_word<kElement>(destination, at + k * kPerWord, total, words.get(k));
            }
        }
    }
};

template <int kElement, int kCount, bool kAligned, bool kFlat>
__global__ void CORNERTURN_RESIDENT(kThreads, kThreads* kBlocks) transpose_few_rows(matrix_work work) {
    using few = few_rows<kElement, kCount, kAligned, kFlat>;
    constexpr int kPerWord = few::kPerWord;
    __shared__ uint4 staged[few::tile::kBytes / kVectorBytes];
    byte* const stage = reinterpret_cast<byte*>(staged);
    const std::int64_t matrix = blockIdx.z, pitch = work.source_ld * kElement;
    const std::int64_t col = std::int64_t{blockIdx.x} * (few::kMoved * kPerWord);
    const byte* const source = static_cast<const byte*>(work.source) + matrix * work.source_stride * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    const unsigned past =
        kFlat ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(destination)) % kSectorBytes;
    const unsigned offset = few::kBack * few::group::kBytes - past;
    const std::int64_t first = col * kCount - past / kElement, total = work.cols * kCount;
    const result_policy result = policy_for(work);

    // What is loaded beyond a row's words must be elements of it too.
    const bool inside = (blockIdx.x > 0 || (kAligned && kFlat)) &&
                        col + few::kMoved * kPerWord + (kAligned ? 0 : 8 / kElement) <= work.cols;
    if (inside) {
        few::template load<true>(source, pitch, col - few::kBack * kPerWord, work.cols, stage);
        __syncthreads();
        few::template store<true>(stage, offset, destination, first, total, result);
    } else {
        few::template load<false>(source, pitch, col - few::kBack * kPerWord, work.cols, stage);
        __syncthreads();
        few::template store<false>(stage, offset, destination, first, total, result);
    }
}

template <int kElement, int kCount, bool kAligned, bool kFlat>
void start_few_rows(const matrix_work& work) {
    using few = few_rows<kElement, kCount, kAligned, kFlat>;
    // What the blocks write begins up to an element less than a sector before the destination.
    const std::int64_t moved = std::int64_t{few::kMoved} * few::kPerWord * kCount;
    const std::int64_t total = work.rows * work.cols + (kFlat ? 0 : kSectorBytes / kElement - 1);
    for_each_grid(work, (total + moved - 1) / moved, dim3(kThreads),
                  [](const launch_shape& shape, const matrix_work& part) {
                      launch(shape, transpose_few_rows<kElement, kCount, kAligned, kFlat>, part);
                  });
}

template <int kElement, int kCount>
void run_few_rows(const matrix_work& work) {
    const bool flat = aligned_to(kVectorBytes, work.destination, 0, work.destination_stride, work);
    if constexpr (kElement < 4) {
        if (!aligned_to(4, work.source, work.source_ld, work.source_stride, work))
            return flat ? start_few_rows<kElement, kCount, false, true>(work)
                        : start_few_rows<kElement, kCount, false, false>(work);
    }
    if constexpr (kElement < kVectorBytes) {
        if (!flat) return start_few_rows<kElement, kCount, true, false>(work);
    }
    start_few_rows<kElement, kCount, true, true>(work);
}

template <int kElement, int kCount>
constexpr production_kernel tall() {
    return {{path::tall, kElement, 0, kCount, kThreads}, &run_few_columns<kElement, kCount>};
}

template <int kElement, int kCount>
constexpr production_kernel wide() {
    return {{path::wide, kElement, kCount, 0, kThreads}, &run_few_rows<kElement, kCount>};
}

#define CORNERTURN_OF_ELEMENT(direction, element)                                                       \
    direction<element, 2>(), direction<element, 3>(), direction<element, 4>(), direction<element, 5>(), \
        direction<element, 6>(), direction<element, 7>(), direction<element, 8>()
constexpr production_kernel kKernels[] = {
    CORNERTURN_OF_ELEMENT(tall, 1),  CORNERTURN_OF_ELEMENT(tall, 2),  CORNERTURN_OF_ELEMENT(tall, 4),
    CORNERTURN_OF_ELEMENT(tall, 8),  CORNERTURN_OF_ELEMENT(tall, 16), CORNERTURN_OF_ELEMENT(wide, 1),
    CORNERTURN_OF_ELEMENT(wide, 2),  CORNERTURN_OF_ELEMENT(wide, 4),  CORNERTURN_OF_ELEMENT(wide, 8),
    CORNERTURN_OF_ELEMENT(wide, 16),
};
#undef CORNERTURN_OF_ELEMENT

}  // namespace

production_kernels few_kernels() { return {kKernels, sizeof kKernels / sizeof kKernels[0]}; }

}  // namespace CORNERTURN_KERNELS
