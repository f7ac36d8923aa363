// Conversions of floats that a GPU has instructions for. Elsewhere core/cast.hpp makes the same values. A NaN stays a
// NaN, but its bits may differ.
#pragma once

#include "core/cast.hpp"
#include "device/device.hpp"

namespace CORNERTURN_KERNELS {

#if defined(__CUDACC__)
__device__ __forceinline__ float multiply_add(float value, float scale, float bias) { return fmaf(value, scale, bias); }
__device__ __forceinline__ double multiply_add(double value, double scale, double bias) {
    return fma(value, scale, bias);
}
#else
__forceinline__ float multiply_add(float value, float scale, float bias) { return __builtin_fmaf(value, scale, bias); }
__forceinline__ double multiply_add(double value, double scale, double bias) {
    return __builtin_fma(value, scale, bias);
}
#endif

#if defined(__CUDA_ARCH__)
#define CORNERTURN_HAS_PAIRS (__CUDA_ARCH__ >= 800)
#define CORNERTURN_HAS_FP8 (__CUDA_ARCH__ >= 890)
#else
#define CORNERTURN_HAS_PAIRS 0
#define CORNERTURN_HAS_FP8 0
#endif

#if CORNERTURN_HAS_FP8
// Two fp8 elements as f16, the first in the lower bits.
template <element_type kFrom>
__device__ __forceinline__ unsigned halves_of(unsigned bits) {
    unsigned halves;
    if constexpr (kFrom == element_type::e4m3fn)
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(bits)));
    else
        asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(bits)));
    return halves;
}
#endif

// The value of a narrow float.
template <element_type kFrom>
__device__ __forceinline__ float widened_float(unsigned bits) {
#if defined(__CUDA_ARCH__)
    if constexpr (kFrom == element_type::f16) {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(bits)));
        return value;
    }
#endif
#if CORNERTURN_HAS_FP8
    if constexpr (facts_of<kFrom>::fp8) return widened_float<element_type::f16>(halves_of<kFrom>(bits) & 0xffff);
#endif
    return widened<kFrom>(bits);
}

// The values of two fp8 elements, the first in the lower bits.
template <element_type kFrom>
__device__ __forceinline__ float2 widened_pair(unsigned bits) {
#if CORNERTURN_HAS_FP8
    const unsigned halves = halves_of<kFrom>(bits);
    return make_float2(widened_float<element_type::f16>(halves & 0xffff),
                       widened_float<element_type::f16>(halves >> 16));
#else
    return make_float2(widened_float<kFrom>(bits & 0xff), widened_float<kFrom>(bits >> 8));
#endif
}

// Two elements of 1 or 2 bytes, the first in the lower bits. They saturate, except f16 and bf16.
template <element_type kTo>
__device__ __forceinline__ unsigned narrowed_pair(float low, float high) {
    constexpr int kBits = 8 * facts_of<kTo>::size;
    if constexpr (facts_of<kTo>::integer) {
#if defined(__CUDA_ARCH__)
        const auto nearest = [](float value) {
            constexpr int kMost = kTo == element_type::u8    ? 255
                                  : kTo == element_type::i8  ? 127
                                  : kTo == element_type::u16 ? 65535
                                                             : 32767;
            constexpr int kLeast = kTo == element_type::i8 ? -128 : kTo == element_type::i16 ? -32768 : 0;
            const int all = __float2int_rn(value);  // of NaN it is 0, and beyond its range the nearest integer
            return static_cast<unsigned>(all < kLeast ? kLeast : all > kMost ? kMost : all);
        };
        return (nearest(low) & ((1u << kBits) - 1)) | (nearest(high) & ((1u << kBits) - 1)) << kBits;
#endif
    }
#if CORNERTURN_HAS_PAIRS
    unsigned pair;
    if constexpr (kTo == element_type::f16) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
        return pair;
    } else if constexpr (kTo == element_type::bf16) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
        return pair;
    }
#endif
#if CORNERTURN_HAS_FP8
    unsigned short both;
    if constexpr (kTo == element_type::e4m3fn) {
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        return both;
    } else if constexpr (kTo == element_type::e5m2) {
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        return both;
    }
#endif
    const auto bits = [](float value) {
        return static_cast<unsigned>(element_from<kTo>(static_cast<double>(value), true)) & ((1u << kBits) - 1);
    };
    return bits(low) | bits(high) << kBits;
}

}  // namespace CORNERTURN_KERNELS
