// cooperative_groups::reduce: one value from the values of all threads of a tile or of coalesced threads.
#pragma once

#include <cooperative_groups.h>

#include <type_traits>
#include <utility>

namespace cooperative_groups {

template <class T>
struct plus {
    CT_INLINE T operator()(T a, T b) const { return a + b; }
};
// The smaller value.
template <class T>
struct less {
    CT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
// The larger value.
template <class T>
struct greater {
    CT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    CT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
    CT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
    CT_INLINE T operator()(T a, T b) const { return a ^ b; }
};

namespace ct_lanes {

// The hardware has one instruction for the whole reduction of 32-bit integers.
template <class T, class Operation>
constexpr bool kOneInstruction = false;
template <class T>
constexpr bool kIsInteger32 = std::is_same_v<T, int> || std::is_same_v<T, unsigned>;
template <class T>
constexpr bool kOneInstruction<T, plus<T>> = kIsInteger32<T>;
template <class T>
constexpr bool kOneInstruction<T, less<T>> = kIsInteger32<T>;
template <class T>
constexpr bool kOneInstruction<T, greater<T>> = kIsInteger32<T>;
template <class T>
constexpr bool kOneInstruction<T, bit_and<T>> = kIsInteger32<T>;
template <class T>
constexpr bool kOneInstruction<T, bit_or<T>> = kIsInteger32<T>;
template <class T>
constexpr bool kOneInstruction<T, bit_xor<T>> = kIsInteger32<T>;

template <class T, class Operation>
CT_INLINE T reduce_integer(unsigned mask, T value) {
    if constexpr (std::is_same_v<Operation, plus<T>>) {
        return __reduce_add_sync(mask, value);
    } else if constexpr (std::is_same_v<Operation, less<T>>) {
        return __reduce_min_sync(mask, value);
    } else if constexpr (std::is_same_v<Operation, greater<T>>) {
        return __reduce_max_sync(mask, value);
    } else {
        // These three exist for unsigned only.
        const unsigned bits = static_cast<unsigned>(value);
        if constexpr (std::is_same_v<Operation, bit_and<T>>) return static_cast<T>(__reduce_and_sync(mask, bits));
        if constexpr (std::is_same_v<Operation, bit_or<T>>) return static_cast<T>(__reduce_or_sync(mask, bits));
        if constexpr (std::is_same_v<Operation, bit_xor<T>>) return static_cast<T>(__reduce_xor_sync(mask, bits));
    }
}

// In each step, every lane of the tile combines its value with that of a partner. 32 lanes take five steps.
template <unsigned Size, class T, class Operation>
CT_INLINE T butterfly(const thread_block_tile<Size, void>& tile, T value, Operation& operation) {
#pragma GCC unroll 5
    for (unsigned distance = Size / 2; distance > 0; distance /= 2) {
        value = static_cast<T>(operation(value, tile.shfl_xor(value, distance)));
    }
    return value;
}

template <unsigned Size, class T, class Operation>
CT_INLINE T reduce_tile(const thread_block_tile<Size, void>& tile, T value, Operation& operation) {
    if constexpr (Size > 32) {
        // The lanes of a warp first, then one value of each warp.
        unsigned mask = kWarp / 2;
        for (; mask > 0; mask /= 2) {
            value = static_cast<T>(operation(value, shuffle(kAllLanes, value, lane() ^ mask)));
        }
        return tile.reduce_warps(value, operation);
    } else if constexpr (kOneInstruction<T, std::decay_t<Operation>>) {
        return reduce_integer<T, std::decay_t<Operation>>(tile.lanes(), value);
    } else {
        return butterfly(tile, value, operation);
    }
}

}  // namespace ct_lanes

template <unsigned Size, class Parent, class T, class Operation>
CT_INLINE auto reduce(const thread_block_tile<Size, Parent>& tile, T&& value, Operation&& operation) {
    return ct_lanes::reduce_tile<Size>(tile, std::decay_t<T>(value), operation);
}

template <class T, class Operation>
CT_INLINE auto reduce(const coalesced_group& group, T&& given, Operation&& operation) {
    using value_type = std::decay_t<T>;
    value_type value = given;
    if constexpr (ct_lanes::kOneInstruction<value_type, std::decay_t<Operation>>) {
        return ct_lanes::reduce_integer<value_type, std::decay_t<Operation>>(group.lanes(), value);
    } else {
        // Each step leaves its results in the first `distance` ranks. At the end, the first rank broadcasts the result.
        const unsigned rank = group.thread_rank();
        const unsigned threads = group.num_threads();
        for (unsigned distance = 16; distance > 0; distance /= 2) {
            if (distance >= threads) continue;
            const value_type other = group.shfl_down(value, distance);
            if (rank < distance && rank + distance < threads) value = static_cast<value_type>(operation(value, other));
        }
        return group.shfl(value, 0);
    }
}

}  // namespace cooperative_groups
