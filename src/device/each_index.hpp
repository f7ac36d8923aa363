// For the verifier's kernels, which give each index a thread. Only for .cu files.
#pragma once

#include <cstdint>

namespace cornerturn::device {

inline constexpr int kThreads = 256;  // in a block

inline unsigned blocks_for(std::int64_t count) {
    const std::int64_t blocks = (count + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

// Calls f(i) for 0 <= i < count. All threads of the grid share the work.
template <class F>
__device__ void for_each_index(std::int64_t count, F f) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) f(i);
}

}  // namespace cornerturn::device
