// A thread moves a matrix with few columns or rows in groups. A group has as many rows (or columns) of the matrix as a
// word has elements. So it has as many words as the matrix has columns (or rows). To transpose a group is a fixed
// permutation of its bytes. In shared memory a group has the layout of the flat side, the side without gaps.
#pragma once

#include <utility>

#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {

// Moves bytes between words in an order known at compile time: byte b of the result is byte Order::source(b). One step
// (__byte_perm) takes four bytes out of two words.
template <class Order>
struct byte_permutation {
    static constexpr int kWords = Order::kWords;

    static __device__ __forceinline__ void apply(const unsigned (&in)[kWords], unsigned (&out)[kWords]) {
        apply(in, out, std::make_integer_sequence<int, kWords>());
    }

private:
    static __host__ __device__ constexpr int from(int byte) { return Order::source(byte); }
    static __host__ __device__ constexpr int word_from(int byte) { return from(byte) / 4; }
    // Whether no earlier byte of the same word comes from the same source word.
    static __host__ __device__ constexpr bool is_first(int byte) {
        for (int b = byte / 4 * 4; b < byte; ++b) {
            if (word_from(b) == word_from(byte)) return false;
        }
        return true;
    }
    // How many words the bytes of a word come from, and the k-th of these (the last one, if there are fewer).
    static __host__ __device__ constexpr int sources(int word) {
        int count = 0;
        for (int b = 4 * word; b < 4 * word + 4; ++b) count += is_first(b) ? 1 : 0;
        return count;
    }
    static __host__ __device__ constexpr int source(int word, int k) {
        int found = 0;
        for (int b = 4 * word; b < 4 * word + 4; ++b) {
            if (is_first(b) && k-- >= 0) found = word_from(b);
        }
        return found;
    }
    // The nibble that selects the byte out of two words.
    static __host__ __device__ constexpr unsigned nibble(int byte, int low, int high) {
        const int at = from(byte) % 4;
        return static_cast<unsigned>(word_from(byte) == low ? at : word_from(byte) == high ? 4 + at : 0);
    }
    static __host__ __device__ constexpr unsigned selector(int word, int low, int high) {
        unsigned all = 0;
        for (int i = 0; i < 4; ++i) all |= nibble(4 * word + i, low, high) << 4 * i;
        return all;
    }
    // The selector for a third source word, `added`. It takes that word's bytes and keeps the others, which are already
    // in position.
    static __host__ __device__ constexpr unsigned adding(int word, int added) {
        unsigned all = 0;
        for (int i = 0; i < 4; ++i) {
            const bool new_one = word_from(4 * word + i) == added;
            all |= static_cast<unsigned>(new_one ? 4 + from(4 * word + i) % 4 : i) << 4 * i;
        }
        return all;
    }

    // If the bytes of a word come from four words, its halves are made first. Two halves that come from the same two
    // words are made at once; the lower one is the leader. Half h begins with byte 2 h of the result.
    static constexpr int kHalves = 2 * kWords;
    static __host__ __device__ constexpr bool alike(int half, int other) {
        return sources(other / 2) == 4 && word_from(2 * half) == word_from(2 * other) &&
               word_from(2 * half + 1) == word_from(2 * other + 1);
    }
    static __host__ __device__ constexpr int leader(int half) {
        int lead = -1;
        for (int h = 0; h < half; ++h) {
            if (alike(half, h)) lead = lead < 0 ? h : -1;
        }
        return lead < 0 ? half : lead;
    }
    static __host__ __device__ constexpr unsigned pair_selector(int lead) {
        const int low = word_from(2 * lead), high = word_from(2 * lead + 1);
        unsigned all = nibble(2 * lead, low, high) | nibble(2 * lead + 1, low, high) << 4;
        for (int h = lead + 1; h < kHalves; ++h) {
            if (!alike(lead, h)) continue;
            all |= nibble(2 * h, low, high) << 8 | nibble(2 * h + 1, low, high) << 12;
            break;
        }
        return all;
    }

    template <int kHalf>
    static __device__ __forceinline__ unsigned half(const unsigned (&in)[kWords]) {
        constexpr int kLeader = leader(kHalf), kLow = word_from(2 * kHalf), kHigh = word_from(2 * kHalf + 1);
        constexpr unsigned kSelector = pair_selector(kLeader);
        return __byte_perm(in[kLow], in[kHigh], kSelector);
    }
    template <int kWord>
    static __device__ __forceinline__ unsigned word(const unsigned (&in)[kWords]) {
        constexpr int kSources = sources(kWord);
        if constexpr (kSources < 4) {
            constexpr int kLow = source(kWord, 0), kHigh = source(kWord, 1), kThird = source(kWord, 2);
            constexpr unsigned kSelector = selector(kWord, kLow, kHigh), kAdding = adding(kWord, kThird);
            const unsigned two = __byte_perm(in[kLow], in[kHigh], kSelector);
            return kSources < 3 ? two : __byte_perm(two, in[kThird], kAdding);
        } else {
            constexpr unsigned kLower = leader(2 * kWord) == 2 * kWord ? 0x10 : 0x32;
            constexpr unsigned kUpper = leader(2 * kWord + 1) == 2 * kWord + 1 ? 0x54 : 0x76;
            return __byte_perm(half<2 * kWord>(in), half<2 * kWord + 1>(in), kUpper << 8 | kLower);
        }
    }
    template <int... kOf>
    static __device__ __forceinline__ void apply(const unsigned (&in)[kWords], unsigned (&out)[kWords],
                                                 std::integer_sequence<int, kOf...>) {
        ((out[kOf] = word<kOf>(in)), ...);
    }
};

// Groups of a matrix with kCount columns (or rows).
template <int kElement, int kCount>
struct element_group {
    static constexpr int kWord = kWordBytes<kElement>, kPerWord = kElementsPerWord<kElement>;
    static constexpr int kBytes = kCount * kWord, kRegisters = kBytes / 4;
    using word = word_t<kElement>;

    // The group without gaps, row after row (or column after column), each with kCount elements.
    unsigned registers[kRegisters];

    struct to_words {  // word k has the elements of column k
        static constexpr int kWords = kCount;
        static __host__ __device__ constexpr int source(int byte) {
            return (byte % 4 / kElement * kCount + byte / 4) * kElement + byte % kElement;
        }
    };
    struct from_words {
        static constexpr int kWords = kCount;
        static __host__ __device__ constexpr int source(int byte) {
            return byte / kElement % kCount * 4 + byte / kElement / kCount * kElement + byte % kElement;
        }
    };
    // Replace the group by the words of its columns, and the reverse.
    __device__ __forceinline__ void transpose_to_words() { transpose<to_words>(); }
    __device__ __forceinline__ void transpose_from_words() { transpose<from_words>(); }

    __device__ __forceinline__ word get(int k) const { return part<word>(k); }
    __device__ __forceinline__ void set(int k, word value) { set_part<word>(k, value); }

    // Part k of the group, with the size of T.
    template <class T>
    __device__ __forceinline__ T part(int k) const {
        if constexpr (sizeof(T) == 4) {
            return registers[k];
        } else if constexpr (sizeof(T) == 8) {
            return make_uint2(registers[2 * k], registers[2 * k + 1]);
        } else {
            return make_uint4(registers[4 * k], registers[4 * k + 1], registers[4 * k + 2], registers[4 * k + 3]);
        }
    }
    template <class T>
    __device__ __forceinline__ void set_part(int k, T value) {
        if constexpr (sizeof(T) == 4) {
            registers[k] = value;
        } else if constexpr (sizeof(T) == 8) {
            registers[2 * k] = value.x;
            registers[2 * k + 1] = value.y;
        } else {
            registers[4 * k] = value.x;
            registers[4 * k + 1] = value.y;
            registers[4 * k + 2] = value.z;
            registers[4 * k + 3] = value.w;
        }
    }

private:
    template <class Order>
    __device__ __forceinline__ void transpose() {
        if constexpr (kPerWord > 1) {
            unsigned transposed[kRegisters];
            byte_permutation<Order>::apply(registers, transposed);
            CORNERTURN_UNROLL
            for (int k = 0; k < kRegisters; ++k) registers[k] = transposed[k];
        }
    }
};

// Positions of groups in shared memory. They follow each other. Where the groups of neighbouring lanes would begin in
// the same banks, vectors are swizzled within a line of banks.
template <int kGroupBytes>
struct group_layout {
    static constexpr int kVectorsPerGroup = kGroupBytes % kVectorBytes == 0 ? kGroupBytes / kVectorBytes : 1;
    static constexpr unsigned kSwizzled = (kVectorsPerGroup & -kVectorsPerGroup) - 1;
    // The widest access to which every group is aligned.
    static constexpr int kAccess = kGroupBytes % 16 == 0 ? 16 : kGroupBytes & -kGroupBytes;

    // Two groups whose distance is a multiple of this many bytes keep their distance in spite of the swizzle.
    static constexpr int kPeriod = 32 * kGroupBytes;
    static __device__ __forceinline__ unsigned slot(unsigned offset) {
        return kSwizzled == 0 ? offset : offset ^ (offset >> 7 & kSwizzled) << 4;
    }
};

}  // namespace CORNERTURN_KERNELS
