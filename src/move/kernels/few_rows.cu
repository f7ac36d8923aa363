// Matrices with 2 to 8 rows whose transposes have no gaps between their rows: see few.hpp.
#include "move/kernels/few.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Few rows. kAligned: every row of the source is aligned to words. kFlat: the destination is aligned to vectors.
// Otherwise each block writes whole sectors of it, and loads some groups that its neighbour loads too.
template <int kElement, int kCount, bool kAligned, bool kFlat>
struct few_rows {
    using tile = few_tile<kElement, kCount>;
    using group = typename tile::group;
    using layout = typename tile::layout;
    using word = typename group::word;
    static constexpr int kWord = group::kWord, kPerWord = group::kPerWord, kPerThread = tile::kPerThread;
    static_assert(kAligned || kPerWord > 1);
    static constexpr int kBack = kFlat ? 0 : kSectorBytes / kWord;          // groups
    static constexpr int kMoved = tile::kGroups - kBack;                    // groups that a block moves
    static constexpr int kVectors = kMoved * group::kBytes / kVectorBytes;  // of the destination

    // Stages the groups from column `col` on. Unless kWhole, some of them may not exist.
    template <bool kWhole>
    static __device__ __forceinline__ void load(const byte* source, std::int64_t pitch, std::int64_t col,
                                                std::int64_t cols, read_policy read, byte* stage) {
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
                    value = read.load(words);
                    if constexpr (!kAligned) value = __funnelshift_r(value, read.load(words + 1), shift);
                } else {
                    const std::int64_t at = col + (first + static_cast<unsigned>(32 * i)) * kPerWord;
                    const byte* const begin = source + k * pitch;
                    if (at >= 0 && at < cols)
                        value = load_word_within<kElement>(begin + at * kElement, begin, begin + cols * kElement, read);
                }
                groups[i].set(k, value);
            }
            line += pitch;
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerThread; ++i) groups[i].transpose_from_words();
        CORNERTURN_UNROLL
        for (int k = 0; k < group::kBytes / layout::kAccess; ++k) {
            using part = storage_t<layout::kAccess>;
            byte* const at = stage + layout::slot(first * group::kBytes + static_cast<unsigned>(k * layout::kAccess));
            CORNERTURN_UNROLL
            for (int i = 0; i < kPerThread; ++i)
                *reinterpret_cast<part*>(at + i * layout::kPeriod) = groups[i].template part<part>(k);
        }
    }

    // The vector that comes `iterations` iterations of the block after the one at `offset` in shared memory. It may
    // begin inside a word. The swizzle is the same in every iteration.
    static __device__ __forceinline__ uint4 vector_at(const byte* stage, unsigned offset, int iterations) {
        stage += iterations * (kFewThreads * kVectorBytes);
        if constexpr (kFlat) {
            return value_at<uint4>(stage + layout::slot(offset));
        } else if constexpr (kWord == 8) {
            const uint2 low = value_at<uint2>(stage + layout::slot(offset));
            const uint2 high = value_at<uint2>(stage + layout::slot(offset + 8));
            return make_uint4(low.x, low.y, high.x, high.y);
        } else {
            const unsigned next = (offset + 3) / 4 * 4, shift = 0u - 8 * offset;
            const auto word_at = [=](unsigned at) { return value_at<unsigned>(stage + layout::slot(at)); };
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

    // Writes kVectors vectors to the destination, from element `first` on. The destination has `total` elements. In
    // shared memory the vectors begin at `offset`.
    template <bool kWhole>
    static __device__ __forceinline__ void store(const byte* stage, unsigned offset, byte* destination,
                                                 std::int64_t first, std::int64_t total, result_policy result) {
        constexpr int kIterations = (kVectors + kFewThreads - 1) / kFewThreads;
        constexpr unsigned kLast =
            kVectors % kFewThreads == 0 ? kFewThreads : kVectors % kFewThreads;  // in the last iteration
        const unsigned mine = threadIdx.x * kVectorBytes;
        byte* const to = destination + first * kElement + mine;
        CORNERTURN_UNROLL
        for (int i = 0; i < kIterations; ++i) {
            if (i >= kVectors / kFewThreads && threadIdx.x >= kLast) break;
            const uint4 vector = vector_at(stage, offset + mine, i);
            if constexpr (kWhole) {
                uint4* const address = reinterpret_cast<uint4*>(to + i * (kFewThreads * kVectorBytes));
                result.store(address, vector);
            } else {
                element_group<kElement, kVectorBytes / kWord> words;
                words.set_part(0, vector);
                const std::int64_t at =
                    first + (threadIdx.x + static_cast<unsigned>(i * kFewThreads)) * (kVectorBytes / kElement);
                CORNERTURN_UNROLL
                for (int k = 0; k < kVectorBytes / kWord; ++k)
                    store_part_of_word<kElement>(destination, at + k * kPerWord, total, words.get(k));
            }
        }
    }
};

template <int kElement, int kCount, bool kAligned, bool kFlat>
__global__ void CORNERTURN_RESIDENT(kFewThreads, kFewThreads* kFewBlocks)
    transpose_few_rows(moves::matrices_work work, result_policy result) {
    using few = few_rows<kElement, kCount, kAligned, kFlat>;
    constexpr int kPerWord = few::kPerWord;
    __shared__ uint4 staged[few::tile::kBytes / kVectorBytes];
    byte* const stage = reinterpret_cast<byte*>(staged);
    const place_of_matrix matrix(work);
    const std::int64_t pitch = work.source_ld * kElement;
    const std::int64_t col = std::int64_t{blockIdx.x} * (few::kMoved * kPerWord);
    const byte* const source = static_cast<const byte*>(work.source) + matrix.source * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix.destination * kElement;
    const unsigned past =
        kFlat ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(destination)) % kSectorBytes;
    const unsigned offset = few::kBack * few::group::kBytes - past;
    const std::int64_t first = col * kCount - past / kElement, total = work.cols * kCount;
    const read_policy read(work.keeps_lines);

    // Words that are loaded beyond the row's own must be elements of the matrix too.
    const bool inside = (blockIdx.x > 0 || (kAligned && kFlat)) &&
                        col + few::kMoved * kPerWord + (kAligned ? 0 : 8 / kElement) <= work.cols;
    if (inside) {
        few::template load<true>(source, pitch, col - few::kBack * kPerWord, work.cols, read, stage);
        __syncthreads();
        few::template store<true>(stage, offset, destination, first, total, result);
    } else {
        few::template load<false>(source, pitch, col - few::kBack * kPerWord, work.cols, read, stage);
        __syncthreads();
        few::template store<false>(stage, offset, destination, first, total, result);
    }
}

template <int kElement, int kCount, bool kAligned, bool kFlat>
void start_few_rows(const moves::matrices_work& work, const gpu& on) {
    using few = few_rows<kElement, kCount, kAligned, kFlat>;
    // The first sector that the blocks write begins less than a sector before the destination.
    const std::int64_t moved = std::int64_t{few::kMoved} * few::kPerWord * kCount;
    const std::int64_t total = work.rows * work.cols + (kFlat ? 0 : kSectorBytes / kElement - 1);
    for_each_grid(work, (total + moved - 1) / moved, dim3(kFewThreads),
                  [&](const launch_shape& shape, const moves::matrices_work& part) {
                      launch(shape, transpose_few_rows<kElement, kCount, kAligned, kFlat>, part, policy_for(part, on));
                  });
}

template <int kElement, int kCount>
void run_few_rows(const moves::matrices_work& work, const gpu& on) {
    const bool flat = aligned_to(kVectorBytes, work.destination, 0, work.destination_stride, work);
    if constexpr (kElement < 4) {
        if (!aligned_to(4, work.source, work.source_ld, work.source_stride, work))
            return flat ? start_few_rows<kElement, kCount, false, true>(work, on)
                        : start_few_rows<kElement, kCount, false, false>(work, on);
    }
    if constexpr (kElement < kVectorBytes) {
        if (!flat) return start_few_rows<kElement, kCount, true, false>(work, on);
    }
    start_few_rows<kElement, kCount, true, true>(work, on);
}

struct wide_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kWide.rows[kRow];
        return &run_few_rows<kUse.unit, kUse.tile_rows>;
    }
};

}  // namespace

run_work wide_kernel(int row) { return kernel_of_row<wide_rows>(row, moves::kWide.rows); }

}  // namespace CORNERTURN_KERNELS
