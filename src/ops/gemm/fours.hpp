// Four neighbouring floats at a time, for kernels that multiply.
#pragma once

#include "device/device.hpp"

namespace CORNERTURN_KERNELS {

// Loads with one access. `from` is aligned to 16 bytes.
__device__ __forceinline__ void load_four(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// Four floats, `step` apart, become neighbours in shared memory, with one access. `to` is aligned to 16 bytes.
__device__ __forceinline__ void put_four(float* to, const float* from, int step) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[step], from[2 * step], from[3 * step]);
}

// The first `there` of four elements of C, `step` apart, become alpha * sum + beta * their old value. If beta is 0, the
// old value is not read. It takes one access if all four exist and `aligned` says that they are aligned neighbours.
__device__ __forceinline__ void store_four(float* to, const float* sum, std::int64_t there, float alpha, float beta,
                                           bool aligned, std::int64_t step = 1) {
    if (aligned && there >= 4) {
        float4* const four = reinterpret_cast<float4*>(to);
        float4 result = make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
        if (beta != 0) {
            const float4 before = *four;
            result.x += beta * before.x, result.y += beta * before.y;
            result.z += beta * before.z, result.w += beta * before.w;
        }
        *four = result;
        return;
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < 4; ++i) {
        if (i < there) {
            float* const one = to + i * step;
            *one = beta == 0 ? alpha * sum[i] : alpha * sum[i] + beta * *one;
        }
    }
}

// Copies four neighbours into shared memory. The first `there` exist; the others become zeros. It is one copy if all
// exist and `kAligned` says that they are aligned.
template <bool kAligned>
__device__ __forceinline__ void copy_four_async(shared_address to, const float* from, std::int64_t there) {
    if (kAligned && there >= 4) return copy_async_if<4>(true, to, from);
    CORNERTURN_UNROLL
    for (int i = 0; i < 4; ++i) copy_async_or_zero<1>(to + i, from + i, i < there);
}

inline bool rows_of_fours(const float* data, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0 && ld % 4 == 0;
}

}  // namespace CORNERTURN_KERNELS
