// Splits an index that counts several axes.
#pragma once

#include "move/kernels/bytes.hpp"
#include "move/kernels/work.hpp"

namespace CORNERTURN_KERNELS {

// The distance from index 0 to this index on both sides, as the strides count it.
struct place_of_index {
    std::int64_t source = 0, destination = 0;

    // Calls each(axis, position along it). Axes: places or batch_axes.
    template <class Axes, class Each>
    __device__ __forceinline__ place_of_index(const Axes& all, unsigned index, Each each) {
        CORNERTURN_UNROLL_BY(1)
        for (int a = 0; a < all.rank; ++a) {
            const auto& axis = all.axes[a];
            const unsigned next = axis.by.quotient(index), at = index - next * axis.by.d;
            index = next;
            source += at * axis.source;
            destination += at * axis.destination;
            each(a, at);
        }
    }
    template <class Axes>
    __device__ __forceinline__ place_of_index(const Axes& all, unsigned index)
        : place_of_index(all, index, [](int, unsigned) {}) {}
};

// The distance from the work's first matrix to this block's, on both sides, as the strides count it.
struct place_of_matrix {
    std::int64_t source, destination;

    __device__ __forceinline__ place_of_matrix(const moves::batch_axes& batch, std::int64_t source_stride,
                                               std::int64_t destination_stride)
        : source(blockIdx.z * source_stride), destination(blockIdx.z * destination_stride) {
        if (batch.rank == 0) return;
        const place_of_index at(batch, batch.first + blockIdx.z);
        source = at.source, destination = at.destination;
    }
    __device__ __forceinline__ explicit place_of_matrix(const moves::matrices_work& work)
        : place_of_matrix(work.batch, work.source_stride, work.destination_stride) {}
};

}  // namespace CORNERTURN_KERNELS
