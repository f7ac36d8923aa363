// Words at any address, to move matrices whose rows are aligned only to an element.
#pragma once

#include "move/kernels/bytes.hpp"

namespace CORNERTURN_KERNELS {

__device__ __forceinline__ int past_word(const void* address) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) & 3);
}

// The word that begins at an element's address. It reads up to 3 bytes before the address and 7 after it.
template <int kElement>
__device__ __forceinline__ word_t<kElement> load_word(const byte* address, read_policy read) {
    if constexpr (kElement >= 4) {
        return read.load(reinterpret_cast<const word_t<kElement>*>(address));
    } else {
        const int past = past_word(address);
        const unsigned* const aligned = reinterpret_cast<const unsigned*>(address - past);
        const unsigned low = load_beside_writes(aligned, read), high = load_beside_writes(aligned + 1, read);
        return __funnelshift_r(low, high, 8 * past);
    }
}

// The 16 bytes at an address that is a multiple of kAligned.
template <int kAligned>
__device__ __forceinline__ uint4 load_vector(const byte* from, read_policy read) {
    if constexpr (kAligned == 16) {
        return read.load(reinterpret_cast<const uint4*>(from));
    } else if constexpr (kAligned == 8) {
        const uint2 a = read.load(reinterpret_cast<const uint2*>(from));
        const uint2 b = read.load(reinterpret_cast<const uint2*>(from + 8));
        return make_uint4(a.x, a.y, b.x, b.y);
    } else {
        const unsigned past = kAligned == 4 ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) & 3);
        const auto* const words = reinterpret_cast<const unsigned*>(from - past);
        unsigned raw[5];
        CORNERTURN_UNROLL
        for (int k = 0; k < 4; ++k) raw[k] = read.load(words + k);
        if constexpr (kAligned == 4) return make_uint4(raw[0], raw[1], raw[2], raw[3]);
        raw[4] = read.load(words + (past > 0 ? 4 : 3));
        return make_uint4(__funnelshift_r(raw[0], raw[1], 8 * past), __funnelshift_r(raw[1], raw[2], 8 * past),
                          __funnelshift_r(raw[2], raw[3], 8 * past), __funnelshift_r(raw[3], raw[4], 8 * past));
    }
}

// The elements of a word that are in [begin, end). Others become 0.
template <int kElement>
__device__ __forceinline__ unsigned load_elements_within(const byte* address, const byte* begin, const byte* end) {
    unsigned word = 0;
    CORNERTURN_UNROLL
    for (int i = 0; i < kElementsPerWord<kElement>; ++i) {
        const byte* const from = address + i * kElement;
        if (from >= begin && from < end)
            word |= static_cast<unsigned>(value_at<storage_t<kElement>>(from)) << 8 * kElement * i;
    }
    return word;
}

// Like load_word, but reads nothing outside [begin, end). The address is inside.
template <int kElement>
__device__ __forceinline__ word_t<kElement> load_word_within(const byte* address, const byte* begin, const byte* end,
                                                             read_policy read) {
    if constexpr (kElement >= 4) {
        return load_word<kElement>(address, read);
    } else {
        const byte* const aligned = address - past_word(address);
        if (aligned >= begin && aligned + 8 <= end) return load_word<kElement>(address, read);
        return load_elements_within<kElement>(address, begin, end);
    }
}

template <int kElement>
__device__ __forceinline__ void store_word(byte* address, word_t<kElement> word) {
    *reinterpret_cast<word_t<kElement>*>(address) = word;
}

// Writes elements first, first + 1, ... of a line of `count` elements, as far as they exist. element(i) gives the i-th.
// The first one is aligned to a word.
template <int kElement, class F>
__device__ __forceinline__ void store_word_within(byte* line, std::int64_t first, std::int64_t count, F element) {
    constexpr int kPerWord = kElementsPerWord<kElement>;
    if constexpr (kElement >= 4) {
        if (first >= 0 && first < count) store_word<kElement>(line + first * kElement, element(0));
    } else if (first >= 0 && first + kPerWord <= count) {
        unsigned word = 0;
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerWord; ++i) word |= static_cast<unsigned>(element(i)) << 8 * kElement * i;
        store_word<kElement>(line + first * kElement, word);
    } else {
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerWord; ++i) {
            if (first + i >= 0 && first + i < count)
                reinterpret_cast<storage_t<kElement>*>(line)[first + i] = element(i);
        }
    }
}

}  // namespace CORNERTURN_KERNELS
