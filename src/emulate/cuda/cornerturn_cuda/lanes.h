// Lanes of a warp for cooperative groups: masks, ranks within a mask, and shuffles of any small type.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "base.h"

namespace cooperative_groups::ct_lanes {

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

CT_INLINE unsigned rank_in_block() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * static_cast<unsigned>(threadIdx.z));
}

CT_INLINE unsigned threads_in_block() { return static_cast<unsigned>(blockDim.x) * blockDim.y * blockDim.z; }

CT_INLINE unsigned lane() { return rank_in_block() % kWarp; }

CT_INLINE unsigned count(unsigned mask) { return static_cast<unsigned>(__builtin_popcount(mask)); }

CT_INLINE unsigned rank_in(unsigned mask) { return count(mask & ((1u << lane()) - 1)); }

// The lane of the rank-th thread of the mask. For a rank past the end, it is the last lane.
CT_INLINE unsigned lane_of(unsigned mask, unsigned rank) {
    for (; rank > 0 && (mask & (mask - 1)) != 0; --rank) mask &= mask - 1;
    return static_cast<unsigned>(__builtin_ctz(mask));
}

// Packs the bits of the lanes in the mask: bit i of the result belongs to the thread of rank i.
CT_INLINE unsigned pack(unsigned bits, unsigned mask) {
    unsigned packed = 0;
    for (unsigned rank = 0; mask != 0; ++rank, mask &= mask - 1) {
        packed |= ((bits >> __builtin_ctz(mask)) & 1u) << rank;
    }
    return packed;
}

// The value of lane `from` of the warp. If the hardware cannot shuffle the type, its 32-bit words are shuffled.
template <class T>
CT_INLINE T shuffle(unsigned mask, T value, unsigned from) {
    if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
        return static_cast<T>(__shfl_sync(mask, value, static_cast<int>(from), 32));
    } else {
        static_assert(std::is_trivially_copyable_v<T>, "a shuffled type must be trivially copyable");
        static_assert(sizeof(T) <= 32, "a shuffled type has at most 32 bytes");
        unsigned words[(sizeof(T) + 3) / 4] = {};
        __builtin_memcpy(words, static_cast<const void*>(&value), sizeof(T));
        for (unsigned& word : words) word = __shfl_sync(mask, word, static_cast<int>(from), 32);
        __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
        return value;
    }
}

}  // namespace cooperative_groups::ct_lanes
