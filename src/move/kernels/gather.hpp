// Gathers the units of vectors from shared memory. A table says where each unit of a line is.
#pragma once

#include "move/kernels/bytes.hpp"

namespace CORNERTURN_KERNELS {

// Where the units of a vector are.
template <int kUnit>
struct entries_of_vector {
    unsigned at[kVectorBytes / kUnit];
};

template <int kUnit>
struct tile_of_units {
    using unit = storage_t<kUnit>;
    static constexpr int kPerVector = kVectorBytes / kUnit;
    // The most copies of the table. Copy i is shifted by i entries. So for any vector, one of the copies has its
    // entries aligned for a wide load. Copies pay if the table is read often. Otherwise there is one, and its entries
    // are read singly.
    static constexpr int kMostCopies = kPerVector < 4 ? kPerVector : 4;

    using entries = entries_of_vector<kUnit>;
    // Where an entry is in a copy. The padding after each vector's entries is as many entries as there are copies. The
    // lanes of a warp read entries of successive vectors, which then lie in different banks.
    static __device__ __forceinline__ unsigned place_of(unsigned entry, unsigned copies) {
        return entry + entry / kPerVector * copies;
    }
    static __device__ __forceinline__ entries load_single_entries(const unsigned* table, unsigned from) {
        entries e;
        CORNERTURN_UNROLL
        for (unsigned i = 0; i < kPerVector; ++i) e.at[i] = table[place_of(from + i, 1)];
        return e;
    }
    static __device__ __forceinline__ entries load_entries(const unsigned* table, int stride, unsigned from) {
        constexpr int kGroup = kMostCopies;
        const unsigned copy = from % kMostCopies, first = from - copy;
        const unsigned* const in_copy = table + copy * stride;
        entries e;
        CORNERTURN_UNROLL
        for (int i = 0; i < kPerVector; i += kGroup) {
            const unsigned* const group = in_copy + place_of(first + i, kGroup);
            if constexpr (kGroup == 4) {
                const uint4 four = *reinterpret_cast<const uint4*>(group);
                e.at[i] = four.x, e.at[i + 1] = four.y, e.at[i + 2] = four.z, e.at[i + 3] = four.w;
            } else if constexpr (kGroup == 2) {
                const uint2 two = *reinterpret_cast<const uint2*>(group);
                e.at[i] = two.x, e.at[i + 1] = two.y;
            } else {
                e.at[i] = *group;
            }
        }
        return e;
    }
};

template <int kUnit>
__device__ __forceinline__ uint4 gather_units(const byte* image, const entries_of_vector<kUnit>& e) {
    using unit = storage_t<kUnit>;
    if constexpr (kUnit == 16) {
        return value_at<uint4>(image + e.at[0]);
    } else if constexpr (kUnit == 8) {
        const uint2 a = value_at<uint2>(image + e.at[0]), b = value_at<uint2>(image + e.at[1]);
        return make_uint4(a.x, a.y, b.x, b.y);
    } else {
        unsigned words[4];
        CORNERTURN_UNROLL
        for (int w = 0; w < 4; ++w) {
            if constexpr (kUnit == 4) {
                words[w] = value_at<unsigned>(image + e.at[w]);
            } else if constexpr (kUnit == 2) {
                words[w] =
                    __byte_perm(value_at<unit>(image + e.at[2 * w]), value_at<unit>(image + e.at[2 * w + 1]), 0x5410);
            } else {
                const unsigned a = value_at<unit>(image + e.at[4 * w]), b = value_at<unit>(image + e.at[4 * w + 1]);
                const unsigned c = value_at<unit>(image + e.at[4 * w + 2]), d = value_at<unit>(image + e.at[4 * w + 3]);
                words[w] = __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
            }
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
}

}  // namespace CORNERTURN_KERNELS
