// Arithmetic and conversions that name their rounding mode, such as __fadd_rz() and __float2int_rn().
#pragma once

#include "exact.h"

// Defines name_rn, name_rz, name_ru and name_rd. In the expression, `mode` is the rounding mode.
#define CT_IN_EACH_MODE(result, name, parameters, ...) \
    CT_INLINE result name##_rn parameters {            \
        constexpr ct_rounding mode = ct_nearest;       \
        return __VA_ARGS__;                            \
    }                                                  \
    CT_INLINE result name##_rz parameters {            \
        constexpr ct_rounding mode = ct_to_zero;       \
        return __VA_ARGS__;                            \
    }                                                  \
    CT_INLINE result name##_ru parameters {            \
        constexpr ct_rounding mode = ct_upward;        \
        return __VA_ARGS__;                            \
    }                                                  \
    CT_INLINE result name##_rd parameters {            \
        constexpr ct_rounding mode = ct_downward;      \
        return __VA_ARGS__;                            \
    }

CT_IN_EACH_MODE(float, __fadd, (float a, float b), ct_add<float, mode>(a, b))
CT_IN_EACH_MODE(float, __fsub, (float a, float b), ct_add<float, mode>(a, -b))
CT_IN_EACH_MODE(float, __fmul, (float a, float b), ct_multiply<float, mode>(a, b))
CT_IN_EACH_MODE(float, __fdiv, (float a, float b), ct_divide<float, mode>(a, b))
CT_IN_EACH_MODE(float, __frcp, (float a), ct_divide<float, mode>(1.0f, a))
CT_IN_EACH_MODE(float, __fsqrt, (float a), ct_square_root<float, mode>(a))
CT_IN_EACH_MODE(float, __fmaf, (float a, float b, float c), ct_fma<float, mode>(a, b, c))
CT_IN_EACH_MODE(double, __dadd, (double a, double b), ct_add<double, mode>(a, b))
CT_IN_EACH_MODE(double, __dsub, (double a, double b), ct_add<double, mode>(a, -b))
CT_IN_EACH_MODE(double, __dmul, (double a, double b), ct_multiply<double, mode>(a, b))
CT_IN_EACH_MODE(double, __ddiv, (double a, double b), ct_divide<double, mode>(a, b))
CT_IN_EACH_MODE(double, __drcp, (double a), ct_divide<double, mode>(1.0, a))
CT_IN_EACH_MODE(double, __dsqrt, (double a), ct_square_root<double, mode>(a))
CT_IN_EACH_MODE(double, __fma, (double a, double b, double c), ct_fma<double, mode>(a, b, c))

CT_INLINE float __frsqrt_rn(float a) { return float(1.0 / __builtin_sqrt(double(a))); }

// PTX's rule for NaN: 0 for a 32-bit result from a float, otherwise only the highest bit is set.
CT_IN_EACH_MODE(int, __float2int, (float a), ct_to_integer<int, mode>(a, 0))
CT_IN_EACH_MODE(unsigned int, __float2uint, (float a), ct_to_integer<unsigned int, mode>(a, 0))
CT_IN_EACH_MODE(long long, __float2ll, (float a), ct_to_integer<long long, mode>(a, -0x7fffffffffffffff - 1))
CT_IN_EACH_MODE(unsigned long long, __float2ull, (float a),
                ct_to_integer<unsigned long long, mode>(a, 0x8000000000000000))
CT_IN_EACH_MODE(int, __double2int, (double a), ct_to_integer<int, mode>(a, -0x7fffffff - 1))
CT_IN_EACH_MODE(unsigned int, __double2uint, (double a), ct_to_integer<unsigned int, mode>(a, 0x80000000))
CT_IN_EACH_MODE(long long, __double2ll, (double a), ct_to_integer<long long, mode>(a, -0x7fffffffffffffff - 1))
CT_IN_EACH_MODE(unsigned long long, __double2ull, (double a),
                ct_to_integer<unsigned long long, mode>(a, 0x8000000000000000))

CT_IN_EACH_MODE(float, __int2float, (int a), ct_rounded<float, mode>(ct_exactly_integer(a)))
CT_IN_EACH_MODE(float, __uint2float, (unsigned int a), ct_rounded<float, mode>(ct_exactly_integer(a)))
CT_IN_EACH_MODE(float, __ll2float, (long long a), ct_rounded<float, mode>(ct_exactly_integer(a)))
CT_IN_EACH_MODE(float, __ull2float, (unsigned long long a), ct_rounded<float, mode>(ct_exactly_integer(a)))
CT_IN_EACH_MODE(double, __ll2double, (long long a), ct_rounded<double, mode>(ct_exactly_integer(a)))
CT_IN_EACH_MODE(double, __ull2double, (unsigned long long a), ct_rounded<double, mode>(ct_exactly_integer(a)))
CT_INLINE double __int2double_rn(int a) { return a; }
CT_INLINE double __uint2double_rn(unsigned int a) { return a; }
CT_IN_EACH_MODE(float, __double2float, (double a), __builtin_bit_cast(float, ct_round<ct_float_format, mode>(a)))

#undef CT_IN_EACH_MODE

CT_INLINE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
CT_INLINE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
CT_INLINE unsigned int __float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
CT_INLINE float __uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
CT_INLINE long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
CT_INLINE double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
CT_INLINE int __double2hiint(double a) { return int(ct_bits(a) >> 32); }
CT_INLINE int __double2loint(double a) { return int(ct_bits(a)); }
CT_INLINE double __hiloint2double(int high, int low) {
    return __builtin_bit_cast(double, (unsigned long long)(unsigned int)high << 32 | (unsigned int)low);
}
