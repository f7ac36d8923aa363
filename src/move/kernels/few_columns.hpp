// Matrices with 2 to 8 columns and no gaps between their rows: see few.hpp.
#pragma once

#include "move/kernels/few.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"

namespace CORNERTURN_KERNELS {

// Words as they are. cast.hpp has the alternative.
template <int kBytes>
struct moved_words {
    struct work {};
    static constexpr int kUnit = kBytes, kSourceUnit = kBytes;
    static constexpr int kTileBytes = moves::kFewTileBytes;
    static constexpr bool kOfEachAlignment = true;

    __device__ __forceinline__ moved_words(const moves::matrices_work&, work) {}
    static __device__ __forceinline__ word_t<kBytes> word(word_t<kBytes> value, int) { return value; }
};

// Stages kVectors vectors from an aligned address.
template <class Layout, int kVectors>
__device__ __forceinline__ void stage_vectors(const byte* from, read_policy read, byte* stage) {
    constexpr int kIterations = (kVectors + kFewThreads - 1) / kFewThreads,
                  kAtOnce = kIterations <= 5 ? kIterations : (kIterations + 1) / 2;
    constexpr unsigned kLast =
        kVectors % kFewThreads == 0 ? kFewThreads : kVectors % kFewThreads;  // in the last iteration
    const unsigned mine = threadIdx.x * kVectorBytes;
    from += mine;
    stage += Layout::slot(mine);
    const auto has = [](int i) { return i < kVectors / kFewThreads || threadIdx.x < kLast; };
    CORNERTURN_UNROLL
    for (int i0 = 0; i0 < kIterations; i0 += kAtOnce) {
        uint4 vectors[kAtOnce];
        CORNERTURN_UNROLL
        for (int i = i0; i < i0 + kAtOnce && i < kIterations; ++i) {
            if (has(i))
                vectors[i - i0] = read.load(reinterpret_cast<const uint4*>(from + i * (kFewThreads * kVectorBytes)));
        }
        CORNERTURN_UNROLL
        for (int i = i0; i < i0 + kAtOnce && i < kIterations; ++i) {
            if (has(i)) *reinterpret_cast<uint4*>(stage + i * (kFewThreads * kVectorBytes)) = vectors[i - i0];
        }
    }
}

// The same if some bytes are outside [begin, end). These are staged as 0.
template <int kElement, class Layout, int kVectors>
__device__ __forceinline__ void stage_vectors_within(const byte* from, const byte* begin, const byte* end,
                                                     read_policy read, byte* stage) {
    CORNERTURN_UNROLL_BY(1)
    for (unsigned v = threadIdx.x; v < kVectors; v += kFewThreads) {
        const byte* const at = from + v * kVectorBytes;
        uint4 vector{};
        if (at >= begin && at + kVectorBytes <= end) {
            vector = read.load(reinterpret_cast<const uint4*>(at));
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
        *reinterpret_cast<uint4*>(stage + Layout::slot(v * kVectorBytes)) = vector;
    }
}

// Few columns. kAligned: the source is aligned to vectors. kShifted: some rows of the destination begin inside words. A
// Move makes words of the destination, of as many elements as a word of the source has.
template <class Move, int kCount, bool kAligned, bool kShifted>
struct few_columns {
    static constexpr int kElement = Move::kSourceUnit;
    using tile = few_tile<kElement, kCount, Move::kTileBytes>;
    using group = typename tile::group;
    using layout = typename tile::layout;
    using word = typename group::word;
    static constexpr int kWord = group::kWord, kPerWord = group::kPerWord, kPerThread = tile::kPerThread;
    static constexpr int kRows = tile::kGroups * kPerWord;
    static constexpr int kUnit = Move::kUnit, kResult = kPerWord * kUnit;  // bytes in the destination, of a word
    static_assert(!kShifted || kPerWord > 1);

    // If words are shifted, shared memory also has the group before the block's first one.
    static constexpr int kBefore = kShifted ? (group::kBytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes : 0;
    static constexpr int kVectors = (kBefore + tile::kBytes) / kVectorBytes + (kAligned ? 0 : 1);

    static __device__ __forceinline__ unsigned past_vector(const byte* address) {
        return kAligned ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address)) % kVectorBytes;
    }

    // Loads the groups of a thread. `offset` is the first one's position in shared memory, which may be inside a word.
    template <int kMany>
    static __device__ __forceinline__ void load(const byte* stage, unsigned offset, group (&groups)[kMany]) {
        if constexpr (kAligned || kPerWord == 1) {
            constexpr int kAccess = kAligned ? layout::kAccess : kWord;
            CORNERTURN_UNROLL
            for (int k = 0; k < group::kBytes / kAccess; ++k) {
                const byte* const at = stage + layout::slot(offset + static_cast<unsigned>(k * kAccess));
                CORNERTURN_UNROLL
                for (int i = 0; i < kMany; ++i)
                    groups[i].set_part(k, value_at<storage_t<kAccess>>(at + i * layout::kPeriod));
            }
        } else {
            unsigned before[kMany];
            CORNERTURN_UNROLL
            for (int k = 0; k <= kCount; ++k) {
                const byte* const at = stage + layout::slot(offset / 4 * 4 + static_cast<unsigned>(4 * k));
                CORNERTURN_UNROLL
                for (int i = 0; i < kMany; ++i) {
                    const unsigned now = value_at<unsigned>(at + i * layout::kPeriod);
                    if (k > 0) groups[i].registers[k - 1] = __funnelshift_r(before[i], now, 8 * offset);
                    before[i] = now;
                }
            }
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kMany; ++i) groups[i].transpose_to_words();
    }

    // Writes the staged groups from `offset` on: rows of the matrix, beginning with `row`.
    template <bool kWhole>
    static __device__ __forceinline__ void store(const byte* stage, unsigned offset, byte* destination,
                                                 std::int64_t pitch, std::int64_t row, std::int64_t rows,
                                                 const Move& move, result_policy result) {
        const unsigned first = tile::first_group();
        group groups[kPerThread], before[1];
        load(stage, offset + first * group::kBytes, groups);
        if constexpr (kShifted)
            load(stage, offset + (first - threadIdx.x % 32) * group::kBytes - group::kBytes, before);
        byte* line = destination + row * kUnit + first * kResult;
        CORNERTURN_UNROLL
        for (int k = 0; k < kCount; ++k) {
            const int past =
                kShifted ? static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % kResult) / kUnit : 0;  // elements
            const auto shift = static_cast<unsigned>(8 * kElement * past);
            byte* const to = line - past * kUnit;
            [[maybe_unused]] word last{};  // for lane 0: the word of the group before
            if constexpr (kShifted) last = before[0].get(k);
            CORNERTURN_UNROLL
            for (int i = 0; i < kPerThread; ++i) {
                word value = groups[i].get(k);
                if constexpr (kShifted) {
                    const word from_lane_before = __shfl_sync(0xffffffffu, value, static_cast<int>(threadIdx.x + 31));
                    value = __funnelshift_l(threadIdx.x % 32 == 0 ? last : from_lane_before, value, shift);
                    last = from_lane_before;
                }
                const auto made = move.word(value, k);
                if constexpr (kWhole) {
                    if constexpr (kUnit < 4 && kResult == 4) {
                        *reinterpret_cast<unsigned*>(to + i * 32 * kResult) = made;  // 0 to 2 % slower with a policy
                    } else {
                        result.store(reinterpret_cast<storage_t<kResult>*>(to + i * 32 * kResult), made);
                    }
                } else {
                    const std::int64_t at = row + (first + static_cast<unsigned>(32 * i)) * kPerWord - past;
                    store_part_of_word<kUnit>(destination + k * pitch, at, rows, made);
                }
            }
            line += pitch;
        }
    }
};

template <class Move, int kCount, bool kAligned, bool kShifted>
__global__ void CORNERTURN_RESIDENT(kFewThreads, kFewThreads* kFewBlocks)
    transpose_few_columns(moves::matrices_work work, typename Move::work by, result_policy result) {
    using few = few_columns<Move, kCount, kAligned, kShifted>;
    using layout = typename few::layout;
    constexpr int kElement = few::kElement;
    __shared__ uint4 staged[few::kVectors];
    byte* const stage = reinterpret_cast<byte*>(staged);
    const place_of_matrix matrix(work);
    const std::int64_t row = std::int64_t{blockIdx.x} * few::kRows;
    const std::int64_t pitch = work.destination_ld * few::kUnit;
    const byte* const source = static_cast<const byte*>(work.source) + matrix.source * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix.destination * few::kUnit;
    const byte* const begin = source + row * (kCount * kElement);
    const unsigned past = few::past_vector(begin);
    const byte* const from = begin - past - few::kBefore;
    const unsigned offset = past + few::kBefore;
    const read_policy read(work.keeps_lines);
    const Move move(work, by);

    const bool inside =
        (blockIdx.x > 0 || (kAligned && !kShifted)) && row + few::kRows + (kAligned ? 0 : kVectorBytes) <= work.rows;
    if (inside) {
        stage_vectors<layout, few::kVectors>(from, read, stage);
        __syncthreads();
        few::template store<true>(stage, offset, destination, pitch, row, work.rows, move, result);
    } else {
        stage_vectors_within<kElement, layout, few::kVectors>(from, source, source + work.rows * (kCount * kElement),
                                                              read, stage);
        __syncthreads();
        few::template store<false>(stage, offset, destination, pitch, row, work.rows, move, result);
    }
}

template <class Move, int kCount, bool kAligned, bool kShifted>
void start_few_columns(const moves::matrices_work& work, const typename Move::work& by, const gpu& on) {
    using few = few_columns<Move, kCount, kAligned, kShifted>;
    // A word that begins before a tile's end may end after it.
    const std::int64_t rows = work.rows + (kShifted ? few::kPerWord - 1 : 0);
    for_each_grid(work, (rows + few::kRows - 1) / few::kRows, dim3(kFewThreads),
                  [&](const launch_shape& shape, const moves::matrices_work& part) {
                      launch(shape, transpose_few_columns<Move, kCount, kAligned, kShifted>, part, by,
                             policy_for(part, on));
                  });
}

// A Move that is not kOfEachAlignment has only two kernels: for work where all is aligned, and for all other work.
template <class Move, int kCount>
void run_few_columns(const moves::matrices_work& work, const typename Move::work& by, const gpu& on) {
    using few = few_columns<Move, kCount, true, false>;
    const bool aligned = aligned_to(kVectorBytes, work.source, 0, work.source_stride, work.count, Move::kSourceUnit);
    const bool shifted = few::kPerWord > 1 && !aligned_to(few::kResult, work.destination, work.destination_ld,
                                                          work.destination_stride, work.count, Move::kUnit);
    if (aligned && !shifted) return start_few_columns<Move, kCount, true, false>(work, by, on);
    if constexpr (few::kPerWord == 1) {
        start_few_columns<Move, kCount, false, false>(work, by, on);
    } else {
        if constexpr (Move::kOfEachAlignment) {
            if (aligned) return start_few_columns<Move, kCount, true, true>(work, by, on);
            if (!shifted) return start_few_columns<Move, kCount, false, false>(work, by, on);
        }
        start_few_columns<Move, kCount, false, true>(work, by, on);
    }
}

}  // namespace CORNERTURN_KERNELS
