// What the library's kernels share: storage types by size, and elements packed into wider words.
#pragma once

#include "core/gpu.hpp"
#include "core/matrix_work.hpp"
#include "device/device.hpp"
#include "device/slabs.hpp"

namespace CORNERTURN_KERNELS {

using byte = unsigned char;

inline constexpr int kVectorBytes = 16;  // the widest access that a thread can make
inline constexpr int kSectorBytes = 32;  // a sector of memory; part of a sector costs as much as the whole

template <int kBytes>
struct storage;
template <>
struct storage<1> {
    using type = std::uint8_t;
};
template <>
struct storage<2> {
    using type = std::uint16_t;
};
template <>
struct storage<4> {
    using type = unsigned;
};
template <>
struct storage<8> {
    using type = uint2;
};
template <>
struct storage<16> {
    using type = uint4;
};
template <int kBytes>
using storage_t = typename storage<kBytes>::type;

// Shared memory and registers are moved in words. A word is 4 bytes, or an element if that is wider.
template <int kElement>
inline constexpr int kWordBytes = kElement < 4 ? 4 : kElement;
template <int kElement>
using word_t = storage_t<kWordBytes<kElement>>;

template <int kElement>
inline constexpr int kElementsPerWord = kWordBytes<kElement> / kElement;

template <class T>
__device__ __forceinline__ T value_at(const byte* address) {
    return *reinterpret_cast<const T*>(address);
}

// The policy for the result of one launch.
inline result_policy policy_for(const matrix_work& work, const gpu& on) {
    const std::int64_t bytes = work.rows * work.cols * work.count * work.element_size;
    return result_policy(work.keeps_lines && keeps_result(bytes, on.l2_bytes));
}

// Transposes a square: as many rows as a word has elements, into words of its columns.
template <int kElement>
__device__ __forceinline__ void transpose_words(const word_t<kElement> (&rows)[kElementsPerWord<kElement>],
                                                word_t<kElement> (&columns)[kElementsPerWord<kElement>]) {
    if constexpr (kElement >= 4) {
        columns[0] = rows[0];
    } else if constexpr (kElement == 2) {
        columns[0] = __byte_perm(rows[0], rows[1], 0x5410);
        columns[1] = __byte_perm(rows[0], rows[1], 0x7632);
    } else {  // first pairs of bytes of two rows, then pairs of pairs
        const unsigned ab = __byte_perm(rows[0], rows[1], 0x5140), cd = __byte_perm(rows[2], rows[3], 0x5140);
        const unsigned ab_high = __byte_perm(rows[0], rows[1], 0x7362);
        const unsigned cd_high = __byte_perm(rows[2], rows[3], 0x7362);
        columns[0] = __byte_perm(ab, cd, 0x5410);
        columns[1] = __byte_perm(ab, cd, 0x7632);
        columns[2] = __byte_perm(ab_high, cd_high, 0x5410);
        columns[3] = __byte_perm(ab_high, cd_high, 0x7632);
    }
}

// Packs columns of words into vectors. words[i] holds elements (row i, columns 0, 1, ...), from its lowest byte on.
// Vector k holds column k, row after row.
template <int kElement>
struct packed_columns {
    static constexpr int kRows = kVectorBytes / kElement, kColumns = kWordBytes<kElement> / kElement;
    uint4 vectors[kColumns];

    __device__ __forceinline__ explicit packed_columns(const word_t<kElement> (&words)[kRows]) {
        if constexpr (kElement == 16) {
            vectors[0] = words[0];
        } else if constexpr (kElement == 8) {
            vectors[0] = make_uint4(words[0].x, words[0].y, words[1].x, words[1].y);
        } else if constexpr (kElement == 4) {
            vectors[0] = make_uint4(words[0], words[1], words[2], words[3]);
        } else {
            unsigned columns[kColumns][4];
            CORNERTURN_UNROLL
            for (int m = 0; m < 4; ++m) {
                unsigned rows[kColumns], transposed[kColumns];
                CORNERTURN_UNROLL
                for (int k = 0; k < kColumns; ++k) rows[k] = words[kColumns * m + k];
                transpose_words<kElement>(rows, transposed);
                CORNERTURN_UNROLL
                for (int k = 0; k < kColumns; ++k) columns[k][m] = transposed[k];
            }
            CORNERTURN_UNROLL
            for (int k = 0; k < kColumns; ++k)
                vectors[k] = make_uint4(columns[k][0], columns[k][1], columns[k][2], columns[k][3]);
        }
    }
};

}  // namespace CORNERTURN_KERNELS
