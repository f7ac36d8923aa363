// CUDA's 8-bit floats: __nv_fp8_e4m3 and __nv_fp8_e5m2, vectors of two and four, and their conversions.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "vector_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

// A value that is too large becomes an infinity (E5M2) or a NaN (E4M3). With saturation, it becomes the largest number.
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// In E4M3, the highest exponent also holds numbers, except for one pattern. So this format has one exponent bit more
// than E4M3, and a value that needs the bit is too large.
struct ct_e4m3_format {
    using bits = unsigned short;
    static constexpr int mantissa = 3, exponent = 5, bias = 7;
    static constexpr bits nan = 0x7f;
};
struct ct_e5m2_format {
    using bits = unsigned short;
    static constexpr int mantissa = 2, exponent = 5, bias = 15;
    static constexpr bits nan = 0x7f;
};

CT_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double a, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t interpretation) {
    if (a != a) return 0x7f;
    const bool e4m3 = interpretation == __NV_E4M3;
    const unsigned int largest = e4m3 ? 0x7e : 0x7b, too_large = e4m3 ? 0x7f : 0x7c;
    const double size = __builtin_fabs(a);
    unsigned int bits = e4m3 ? ct_round<ct_e4m3_format, ct_nearest>(size) : ct_round<ct_e5m2_format, ct_nearest>(size);
    if (bits > largest) bits = saturate == __NV_SATFINITE ? largest : too_large;
    return __nv_fp8_storage_t(__builtin_signbit(a) && bits != 0x7f ? bits | 0x80 : bits);
}
CT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float a, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_double_to_fp8(a, saturate, interpretation);
}
CT_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw a, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_float_to_fp8(ct_decode<ct_half_format>(a.x), saturate, interpretation);
}
CT_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw a, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_float_to_fp8(ct_decode<ct_bfloat16_format>(a.x), saturate, interpretation);
}
CT_INLINE __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 a, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t interpretation) {
    return __nv_fp8x2_storage_t(__nv_cvt_double_to_fp8(a.x, saturate, interpretation) |
                                __nv_cvt_double_to_fp8(a.y, saturate, interpretation) << 8);
}
CT_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 a, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t interpretation) {
    return __nv_cvt_double2_to_fp8x2(double2{a.x, a.y}, saturate, interpretation);
}
CT_INLINE __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw a, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t interpretation) {
    const float2 floats{ct_decode<ct_half_format>(a.x), ct_decode<ct_half_format>(a.y)};
    return __nv_cvt_float2_to_fp8x2(floats, saturate, interpretation);
}
CT_INLINE __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw a, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t interpretation) {
    const float2 floats{ct_decode<ct_bfloat16_format>(a.x), ct_decode<ct_bfloat16_format>(a.y)};
    return __nv_cvt_float2_to_fp8x2(floats, saturate, interpretation);
}

// Exact: half holds every number of both formats. E5M2 is the upper byte of a half.
CT_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t a, __nv_fp8_interpretation_t interpretation) {
    const unsigned int sign = (a & 0x80u) << 8, magnitude = a & 0x7fu;
    const bool e4m3 = interpretation == __NV_E4M3;
    if (magnitude > (e4m3 ? 0x7eu : 0x7cu)) return __half_raw{ct_half_format::nan};
    if (!e4m3) return __half_raw{(unsigned short)(a << 8)};
    // The smallest number is 2^-9. A normal number keeps its mantissa; its exponent grows by the difference of the
    // biases.
    const unsigned int bits = magnitude < 8 ? ct_round<ct_half_format, ct_nearest>(magnitude * 0x1p-9)
                                            : (magnitude << 7) + ((15u - 7u) << 10);
    return __half_raw{(unsigned short)(sign | bits)};
}
CT_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t a, __nv_fp8_interpretation_t interpretation) {
    return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)a, interpretation).x,
                       __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(a >> 8), interpretation).x};
}

template <__nv_fp8_interpretation_t kind>
struct ct_fp8 {
    __nv_fp8_storage_t __x;

    ct_fp8() = default;
    CT_INLINE explicit ct_fp8(__half a) : __x(__nv_cvt_halfraw_to_fp8(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8(__nv_bfloat16 a) : __x(__nv_cvt_bfloat16raw_to_fp8(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8(float a) : __x(__nv_cvt_float_to_fp8(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8(double a) : __x(__nv_cvt_double_to_fp8(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8(short a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(unsigned short a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(int a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(unsigned int a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(long a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(unsigned long a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(long long a) : ct_fp8(double(a)) {}
    CT_INLINE explicit ct_fp8(unsigned long long a) : ct_fp8(double(a)) {}

    CT_INLINE explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kind); }
    CT_INLINE explicit operator float() const { return __half2float(__nv_cvt_fp8_to_halfraw(__x, kind)); }
    CT_INLINE explicit operator double() const { return float(*this); }
    CT_INLINE explicit operator __nv_bfloat16() const { return __float2bfloat16(float(*this)); }
    CT_INLINE explicit operator signed char() const { return whole<signed char>(); }
    CT_INLINE explicit operator unsigned char() const { return whole<unsigned char>(); }
    CT_INLINE explicit operator char() const { return whole<char>(); }
    CT_INLINE explicit operator short() const { return whole<short>(); }
    CT_INLINE explicit operator unsigned short() const { return whole<unsigned short>(); }
    CT_INLINE explicit operator int() const { return whole<int>(); }
    CT_INLINE explicit operator unsigned int() const { return whole<unsigned int>(); }
    CT_INLINE explicit operator long() const { return whole<long>(); }
    CT_INLINE explicit operator unsigned long() const { return whole<unsigned long>(); }
    CT_INLINE explicit operator long long() const { return whole<long long>(); }
    CT_INLINE explicit operator unsigned long long() const { return whole<unsigned long long>(); }
    CT_INLINE explicit operator bool() const { return (__x & 0x7f) != 0; }

private:
    template <class Integer>
    CT_INLINE Integer whole() const {
        return ct_decode_integer<ct_half_format, Integer, ct_to_zero>(__nv_cvt_fp8_to_halfraw(__x, kind).x);
    }
};

template <__nv_fp8_interpretation_t kind>
struct alignas(2) ct_fp8x2 {
    __nv_fp8x2_storage_t __x;

    ct_fp8x2() = default;
    CT_INLINE explicit ct_fp8x2(__half2 a) : __x(__nv_cvt_halfraw2_to_fp8x2(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8x2(__nv_bfloat162 a) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8x2(float2 a) : __x(__nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, kind)) {}
    CT_INLINE explicit ct_fp8x2(double2 a) : __x(__nv_cvt_double2_to_fp8x2(a, __NV_SATFINITE, kind)) {}

    CT_INLINE explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }
    CT_INLINE explicit operator float2() const { return __half22float2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }
};

template <__nv_fp8_interpretation_t kind>
struct alignas(4) ct_fp8x4 {
    __nv_fp8x4_storage_t __x;

    ct_fp8x4() = default;
    CT_INLINE explicit ct_fp8x4(__half2 low, __half2 high) : ct_fp8x4(ct_fp8x2<kind>(low), ct_fp8x2<kind>(high)) {}
    CT_INLINE explicit ct_fp8x4(__nv_bfloat162 low, __nv_bfloat162 high)
        : ct_fp8x4(ct_fp8x2<kind>(low), ct_fp8x2<kind>(high)) {}
    CT_INLINE explicit ct_fp8x4(float4 a)
        : ct_fp8x4(ct_fp8x2<kind>(float2{a.x, a.y}), ct_fp8x2<kind>(float2{a.z, a.w})) {}
    CT_INLINE explicit ct_fp8x4(double4 a)
        : ct_fp8x4(ct_fp8x2<kind>(double2{a.x, a.y}), ct_fp8x2<kind>(double2{a.z, a.w})) {}

    CT_INLINE explicit operator float4() const {
        const float2 low = __half22float2(__nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t(__x), kind));
        const float2 high = __half22float2(__nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t(__x >> 16), kind));
        return float4{low.x, low.y, high.x, high.y};
    }

private:
    CT_INLINE ct_fp8x4(ct_fp8x2<kind> low, ct_fp8x2<kind> high) : __x(low.__x | (__nv_fp8x4_storage_t)high.__x << 16) {}
};

typedef ct_fp8<__NV_E4M3> __nv_fp8_e4m3;
typedef ct_fp8<__NV_E5M2> __nv_fp8_e5m2;
typedef ct_fp8x2<__NV_E4M3> __nv_fp8x2_e4m3;
typedef ct_fp8x2<__NV_E5M2> __nv_fp8x2_e5m2;
typedef ct_fp8x4<__NV_E4M3> __nv_fp8x4_e4m3;
typedef ct_fp8x4<__NV_E5M2> __nv_fp8x4_e5m2;
