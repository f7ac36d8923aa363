// Splits an index that counts several axes.
#pragma once

#include "move/kernels/bytes.hpp"
#include "move/kernels/work.hpp"

namespace CORNERTURN_KERNELS {

// The distance from index 0 to this index on both sides, in bytes.
struct place_of_index {
    std::int64_t source = 0, destination = 0;

    // Calls each(axis, position along it).
    template <class Each>
    __device__ __forceinline__ place_of_index(const moves::places& all, unsigned index, Each each) {
        CORNERTURN_UNROLL_BY(1)
        for (int a = 0; a < all.rank; ++a) {
            const moves::digit& axis = all.axes[a];
            const unsigned next = axis.by.quotient(index), at = index - next * axis.by.d;
            index = next;
            source += at * axis.source;
            destination += at * axis.destination;
            each(a, at);
        }
    }
    __device__ __forceinline__ place_of_index(const moves::places& all, unsigned index)
        : place_of_index(all, index, [](int, unsigned) {}) {}
};

}  // namespace CORNERTURN_KERNELS
