// Shared memory as an image of memory, from which single elements are taken in any order.
#pragma once

#include "core/divider.hpp"
#include "ops/copy/kernels/words.hpp"

namespace CORNERTURN_KERNELS {

// In words; behind each line of 32 banks one bank is left out, so that elements which lie a power of two apart fall
// into different banks.
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
