// A thread for each of many things, in the verifier's kernels: for .cu files alone.
#pragma once

#include <cstdint>

namespace cornerturn::device {

inline constexpr int kThreads = 256;  // of a block

inline unsigned blocks_for(std::int64_t count) {
    const std::int64_t blocks = (count + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

// Calls f(i) for 0 <= i < count, shared out among all threads of the grid.
template <class F>
__device__ void for_each_index(std::int64_t count, F f) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) f(i);
}

}  // namespace cornerturn::device
