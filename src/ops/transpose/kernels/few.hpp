// Matrices with 2 to 8 columns or rows, that have no gap on the side where these lie beside each other: the flat side.
// What limits these is the number of instructions, so nearly all that can be known is known to the compiler.
//
// The flat side is read or written by vectors, as it lies, through shared memory. A thread has whole groups of it
// (few_group.hpp), transposes them in registers, and reads or writes words of each of the few lines on the other side,
// the lanes of a warp beside each other.
//
// Lines begin anywhere. What is written are aligned words: two that follow each other are shifted into one, and the
// one before comes from the lane before. Reading, both words are loaded.
#pragma once

#include "ops/transpose/kernels/few_group.hpp"
#include "ops/transpose/kernels/tunings.hpp"

namespace CORNERTURN_KERNELS {

inline constexpr int kFewThreads = production::kFewThreads, kFewBlocks = 6;  // blocks that a multiprocessor is to hold
inline constexpr int kFewTileBytes = 16 << 10;                               // staged by a block, about

// What both directions share: how the groups of a block are dealt out.
template <int kElement, int kCount>
struct few_tile {
    using group = element_group<kElement, kCount>;
    using layout = group_layout<group::kBytes>;
    static constexpr int kPerThread = kFewTileBytes / (kFewThreads * group::kBytes) > 1
                                          ? kFewTileBytes / (kFewThreads * group::kBytes)
                                          : 1;
    static constexpr int kGroups = kPerThread * kFewThreads, kBytes = kGroups * group::kBytes;
    static constexpr int kStep = 32 * group::kWord;  // bytes of a line from one group of a thread to the next

    // A warp has groups that lie behind each other, and so a line's words do that its lanes move together.
    static __device__ __forceinline__ unsigned first_group() {
        return threadIdx.x / 32 * (32 * kPerThread) + threadIdx.x % 32;
    }
};

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

}  // namespace CORNERTURN_KERNELS
