// Exact results of arithmetic, and their rounding to any binary format in any mode.
//
// Each instruction of a GPU names its rounding mode. The processor's mode stays "to nearest", because compilers move
// arithmetic across a change of mode. So a result is computed to nearest, together with the sign of its error, and then
// rounded in integer arithmetic.
#pragma once

#include "base.h"

enum ct_rounding { ct_nearest, ct_to_zero, ct_upward, ct_downward };

// A format: the integer type that holds a value, the numbers of bits of its mantissa and exponent, the bias of the
// exponent, and the bits of a NaN.
struct ct_half_format {
    using bits = unsigned short;
    static constexpr int mantissa = 10, exponent = 5, bias = 15;
    static constexpr bits nan = 0x7fff;
};
struct ct_bfloat16_format {
    using bits = unsigned short;
    static constexpr int mantissa = 7, exponent = 8, bias = 127;
    static constexpr bits nan = 0x7fff;
};
struct ct_float_format {
    using bits = unsigned int;
    static constexpr int mantissa = 23, exponent = 8, bias = 127;
    static constexpr bits nan = 0x7fffffff;
};
struct ct_double_format {
    using bits = unsigned long long;
    static constexpr int mantissa = 52, exponent = 11, bias = 1023;
    static constexpr bits nan = 0x7fffffffffffffff;
};
template <class T>
struct ct_format_of {
    using type = ct_double_format;
};
template <>
struct ct_format_of<float> {
    using type = ct_float_format;
};

// (-1)^negative * significand * 2^exponent. If the true value is between two such numbers, the significand is odd and
// has at least two bits more than the format that it is rounded to. Its lowest bit then stands for the rest.
struct ct_exact {
    unsigned long long significand;
    int exponent;
    bool negative;
};

CT_INLINE unsigned int ct_bits(float value) { return __builtin_bit_cast(unsigned int, value); }
CT_INLINE unsigned long long ct_bits(double value) { return __builtin_bit_cast(unsigned long long, value); }
CT_INLINE bool ct_finite(double value) { return (ct_bits(value) >> 52 & 0x7ff) != 0x7ff; }
CT_INLINE bool ct_finite_nonzero(double value) { return ct_finite(value) && value != 0; }

// The encoding of a finite value. A value that is too large becomes infinity or the largest number; the mode decides.
template <class Format, ct_rounding mode>
inline typename Format::bits ct_encode(ct_exact value) {
    using bits = typename Format::bits;
    constexpr int bias = Format::bias, largest_power = (1 << Format::exponent) - 2 - bias;
    constexpr unsigned long long infinity = ((1ull << Format::exponent) - 1) << Format::mantissa;
    const unsigned long long sign = (unsigned long long)value.negative << (Format::mantissa + Format::exponent);
    if (value.significand == 0) return bits(sign);

    const int zeros = __builtin_clzll(value.significand);
    const unsigned long long significand = value.significand << zeros;
    const int power = value.exponent + 63 - zeros;  // 2^power <= |value| < 2^(power + 1)
    unsigned long long magnitude = infinity;
    if (power <= largest_power) {
        // The implicit leading bit adds 1 to the exponent field. A subnormal number has none, and drops more bits.
        int field = power + bias - 1, dropped = 63 - Format::mantissa;
        if (field < 0) {
            dropped -= field;
            field = 0;
        }
        const unsigned long long kept = dropped < 64 ? significand >> dropped : 0;
        const unsigned long long rest = dropped < 64 ? significand << (64 - dropped) : dropped == 64 ? significand : 1;
        constexpr unsigned long long half = 1ull << 63;
        const bool up = mode == ct_nearest   ? rest > half || (rest == half && (kept & 1))
                        : mode == ct_to_zero ? false
                                             : rest != 0 && value.negative == (mode == ct_downward);
        magnitude = ((unsigned long long)field << Format::mantissa) + kept + up;
    }
    if (magnitude >= infinity) {
        const bool away = mode == ct_nearest || (mode != ct_to_zero && value.negative == (mode == ct_downward));
        magnitude = away ? infinity : infinity - 1;
    }
    return bits(sign | magnitude);
}

// A finite number.
CT_INLINE ct_exact ct_exactly(double value) {
    const unsigned long long bits = ct_bits(value), mantissa = bits & 0xfffffffffffff;
    const int field = int(bits >> 52 & 0x7ff);
    return field == 0 ? ct_exact{mantissa, -1074, bits >> 63 != 0}
                      : ct_exact{mantissa | 1ull << 52, field - 1075, bits >> 63 != 0};
}

// A finite number, and the rest that was lost when it was rounded to nearest. Only the sign of the rest matters.
CT_INLINE ct_exact ct_exactly(double value, double rest, int exponent = 0) {
    ct_exact exact = ct_exactly(value);
    exact.significand <<= 10;
    exact.exponent += exponent - 10;
    if (rest != 0) exact.significand += (rest < 0) == exact.negative ? 1 : -1;
    return exact;
}

template <class Integer>
CT_INLINE ct_exact ct_exactly_integer(Integer value) {
    const bool negative = value < 0;
    const auto magnitude = (unsigned long long)value;
    return {negative ? 0 - magnitude : magnitude, 0, negative};
}

// Rounds any number, including infinities and NaNs.
template <class Format, ct_rounding mode>
CT_INLINE typename Format::bits ct_round(double value) {
    using bits = typename Format::bits;
    if (ct_finite(value)) return ct_encode<Format, mode>(ct_exactly(value));
    constexpr bits infinity = bits((bits(1) << Format::exponent) - 1) << Format::mantissa;
    const bits sign = bits(bits(value < 0) << (Format::mantissa + Format::exponent));
    return (ct_bits(value) & 0xfffffffffffff) != 0 ? Format::nan : bits(sign | infinity);
}

template <class T, ct_rounding mode>
CT_INLINE T ct_rounded(ct_exact value) {
    return __builtin_bit_cast(T, ct_encode<typename ct_format_of<T>::type, mode>(value));
}

// A finite number other than 0 as fraction * 2^exponent with 1 <= |fraction| < 2. Products and quotients of such
// fractions are normal numbers, so double can represent their errors.
struct ct_parts {
    double fraction;
    int exponent;
};
CT_INLINE ct_parts ct_split(double value) {
    int exponent = -1023;
    if ((ct_bits(value) >> 52 & 0x7ff) == 0) {
        value *= 0x1p64;
        exponent -= 64;
    }
    const unsigned long long bits = ct_bits(value);
    exponent += int(bits >> 52 & 0x7ff);
    return {__builtin_bit_cast(double, (bits & 0x800fffffffffffff) | 0x3ff0000000000000), exponent};
}

// The part of a + b that was lost when it was rounded to `sum` (Knuth's TwoSum).
CT_INLINE double ct_lost_in_sum(double a, double b, double sum) {
    const double added = sum - a;
    return (a - (sum - added)) + (b - added);
}

CT_INLINE ct_exact ct_exact_product(double a, double b) {
    const ct_parts x = ct_split(a), y = ct_split(b);
    const double product = x.fraction * y.fraction;
    return ct_exactly(product, __builtin_fma(x.fraction, y.fraction, -product), x.exponent + y.exponent);
}

CT_INLINE ct_exact ct_exact_quotient(double a, double b) {
    const ct_parts x = ct_split(a), y = ct_split(b);
    const double quotient = x.fraction / y.fraction;
    const double rest = __builtin_fma(-quotient, y.fraction, x.fraction);
    return ct_exactly(quotient, y.fraction < 0 ? -rest : rest, x.exponent - y.exponent);
}

CT_INLINE ct_exact ct_exact_root(double a) {
    ct_parts x = ct_split(a);
    if (x.exponent & 1) {
        x.fraction *= 2;
        x.exponent -= 1;
    }
    const double root = __builtin_sqrt(x.fraction);
    return ct_exactly(root, __builtin_fma(-root, root, x.fraction), x.exponent / 2);
}

// a * b + c for finite a, b, c other than 0. The significand of an exact zero is 0.
inline ct_exact ct_exact_fma(double a, double b, double c) {
    const ct_parts x = ct_split(a), y = ct_split(b), z = ct_split(c);
    const int exponent = x.exponent + y.exponent, difference = z.exponent - exponent;
    const double product = x.fraction * y.fraction;
    const double tail = __builtin_fma(x.fraction, y.fraction, -product);
    // Beyond 200 bits, the smaller term is less than the last bit of the larger one, so only its sign matters.
    if (difference > 200) return ct_exactly(z.fraction, product, z.exponent);
    if (difference < -200) return ct_exactly(product, tail != 0 ? tail : z.fraction, exponent);
    const double addend = z.fraction * __builtin_bit_cast(double, (unsigned long long)(difference + 1023) << 52);
    // Two sums combine the three terms into a head and a rest below it.
    const double first = product + addend;
    const double lost_first = ct_lost_in_sum(product, addend, first);
    const double small = lost_first + tail;
    const double lost_small = ct_lost_in_sum(lost_first, tail, small);
    const double head = first + small;
    const double lost_head = ct_lost_in_sum(first, small, head);
    return ct_exactly(head, lost_head != 0 ? lost_head : lost_small, exponent);
}

// Sum, product, quotient, square root and fused multiply-add in any mode. Zeros, infinities and NaNs are the same in
// every mode, except that a sum of 0 is -0 in the mode downward.
template <class T, ct_rounding mode>
inline T ct_add(T a, T b) {
    const T nearest = a + b;
    if (mode == ct_nearest || !ct_finite(a) || !ct_finite(b)) return nearest;
    const double sum = double(a) + double(b);
    if (sum == 0) return mode == ct_downward && (__builtin_signbit(a) || __builtin_signbit(b)) ? T(-0.0) : nearest;
    if (!ct_finite(sum)) return ct_rounded<T, mode>(ct_exact{1, 2000, sum < 0});
    return ct_rounded<T, mode>(ct_exactly(sum, ct_lost_in_sum(a, b, sum)));
}
template <class T, ct_rounding mode>
inline T ct_multiply(T a, T b) {
    if (mode == ct_nearest || !ct_finite_nonzero(a) || !ct_finite_nonzero(b)) return a * b;
    return ct_rounded<T, mode>(ct_exact_product(a, b));
}
template <class T, ct_rounding mode>
inline T ct_divide(T a, T b) {
    if (mode == ct_nearest || !ct_finite_nonzero(a) || !ct_finite_nonzero(b)) return a / b;
    return ct_rounded<T, mode>(ct_exact_quotient(a, b));
}
CT_INLINE float ct_nearest_root(float a) { return __builtin_sqrtf(a); }
CT_INLINE double ct_nearest_root(double a) { return __builtin_sqrt(a); }
template <class T, ct_rounding mode>
inline T ct_square_root(T a) {
    if (mode == ct_nearest || !(a > 0) || !ct_finite(a)) return ct_nearest_root(a);
    return ct_rounded<T, mode>(ct_exact_root(a));
}
CT_INLINE float ct_nearest_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CT_INLINE double ct_nearest_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class T, ct_rounding mode>
inline T ct_fma(T a, T b, T c) {
    if (mode == ct_nearest || !ct_finite(a) || !ct_finite(b) || !ct_finite(c)) return ct_nearest_fma(a, b, c);
    const bool product_is_zero = a == 0 || b == 0;
    if (product_is_zero) return ct_add<T, mode>(a * b, c);
    if (c == 0) return ct_multiply<T, mode>(a, b);
    const ct_exact exact = ct_exact_fma(a, b, c);
    if (exact.significand == 0) return mode == ct_downward ? T(-0.0) : T(0);
    return ct_rounded<T, mode>(exact);
}

// Rounds to an integer. A value out of range becomes the nearest integer in range, and NaN becomes `nan`.
template <class Integer, ct_rounding mode>
inline Integer ct_to_integer(double value, Integer nan) {
    if (value != value) return nan;
    const double whole = mode == ct_nearest   ? __builtin_rint(value)
                         : mode == ct_to_zero ? __builtin_trunc(value)
                         : mode == ct_upward  ? __builtin_ceil(value)
                                              : __builtin_floor(value);
    constexpr bool is_signed = Integer(-1) < Integer(0);
    constexpr int bits = 8 * sizeof(Integer) - is_signed;
    constexpr Integer largest = Integer(~0ull >> (64 - bits)),
                      smallest = is_signed ? Integer(-largest - 1) : Integer(0);
    constexpr double above = 2.0 * (1ull << (bits - 1));  // 2^bits, one more than the largest
    if (whole >= above) return largest;
    if (whole <= (is_signed ? -above : 0.0)) return smallest;
    return Integer(whole);
}
