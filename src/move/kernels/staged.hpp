// Shared memory as an image of memory. Single elements are taken from it in any order.
#pragma once

#include "core/divider.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {

// The image is in words. The padding after each line of 32 banks is one bank, so elements whose distance is a power of
// two lie in different banks.
template <int kElement>
struct staged {
    static constexpr int kWord = kWordBytes<kElement>, kWordsPerLine = 128 / kWord;
    using word = word_t<kElement>;
    using element = storage_t<kElement>;

    static constexpr int words_for(int bytes) {
        const int words = (bytes + kWord - 1) / kWord;
        return words + words / kWordsPerLine + 1;
    }
    static __device__ __forceinline__ unsigned slot(unsigned word) { return word + word / kWordsPerLine; }
    static __device__ __forceinline__ element get(const word* stage, unsigned offset) {  // in bytes
        return value_at<element>(reinterpret_cast<const byte*>(stage) + (offset + offset / 128 * kWord));
    }
};

}  // namespace CORNERTURN_KERNELS
