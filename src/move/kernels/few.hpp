// Matrices with 2 to 8 columns or rows. One side, the flat side, has these few elements next to each other and no gaps.
// The number of instructions limits these kernels. So nearly everything is a compile-time constant.
//
// The flat side is read or written in vectors, through shared memory. A thread has whole groups of it (few_group.hpp)
// and transposes them in registers. On the other side it reads or writes words of each of the few lines. The lanes of a
// warp take neighbouring words.
//
// Lines begin anywhere, but words are written only at aligned addresses. So two neighbouring words are shifted into
// one; the first of them comes from the lane before. For reads, a thread loads both words itself.
#pragma once

#include "move/kernels/few_group.hpp"
#include "move/matrices.hpp"

namespace CORNERTURN_KERNELS {

using moves::kFewBlocks, moves::kFewThreads, moves::kFewTileBytes;

// What both directions share: how groups are assigned to the threads of a block.
template <int kElement, int kCount, int kTileBytes = kFewTileBytes>
struct few_tile {
    using group = element_group<kElement, kCount>;
    using layout = group_layout<group::kBytes>;
    static constexpr int kPerThread = kTileBytes / (kFewThreads * group::kBytes) > 1
                                          ? kTileBytes / (kFewThreads * group::kBytes)
                                          : 1;
    static constexpr int kGroups = kPerThread * kFewThreads, kBytes = kGroups * group::kBytes;
    static constexpr int kStep = 32 * group::kWord;  // bytes of a line from a thread's group to its next

    // The groups of a warp follow each other. So do the words of a line that its lanes move together.
    static __device__ __forceinline__ unsigned first_group() {
        return threadIdx.x / 32 * (32 * kPerThread) + threadIdx.x % 32;
    }
};

// Writes a word to elements first, first + 1, ... of a line of `count` elements, as far as these exist.
template <int kElement, class Word>
__device__ __forceinline__ void store_part_of_word(byte* line, std::int64_t first, std::int64_t count, Word word) {
    constexpr int kPerWord = sizeof(Word) / kElement;
    if (first >= 0 && first + kPerWord <= count) {
        *reinterpret_cast<Word*>(line + first * kElement) = word;
    } else if constexpr (kPerWord > 1) {
        storage_t<kElement> elements[kPerWord];
        __builtin_memcpy(elements, &word, sizeof elements);
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerWord; ++i) {
            if (first + i >= 0 && first + i < count)
                reinterpret_cast<storage_t<kElement>*>(line)[first + i] = elements[i];
        }
    }
}

}  // namespace CORNERTURN_KERNELS
