// Conversions between the bits of 16-bit floats and other numbers.
#pragma once

#include "exact.h"

template <class Format>
constexpr int ct_infinity_of = ((1 << Format::exponent) - 1) << Format::mantissa;

template <class Format>
CT_INLINE float ct_decode(unsigned short bits) {
    if constexpr (Format::exponent == ct_float_format::exponent) {
        return __builtin_bit_cast(float, (unsigned int)bits << 16);  // bfloat16 is the upper half of a float
    } else {
        constexpr int shift = ct_float_format::mantissa - Format::mantissa;
        constexpr unsigned int bias = (unsigned int)(ct_float_format::bias - Format::bias) << ct_float_format::mantissa;
        const unsigned int magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
        if (magnitude < 1u << Format::mantissa) {
            // Subnormal: an integer times the smallest number.
            constexpr float smallest = 1.0f / float(1u << (Format::mantissa + Format::bias - 1));
            return __builtin_bit_cast(float, ct_bits(float(magnitude) * smallest) | sign);
        }
        // Infinities and NaNs need the highest exponent field of float: adding the bias twice gives it.
        const unsigned int add = magnitude >= (unsigned int)ct_infinity_of<Format> ? 2 * bias : bias;
        return __builtin_bit_cast(float, ((magnitude << shift) + add) | sign);
    }
}

template <class Format, ct_rounding mode, class Integer>
CT_INLINE typename Format::bits ct_round_integer(Integer value) {
    return ct_encode<Format, mode>(ct_exactly_integer(value));
}

// NaN becomes 0, or for 64-bit integers the integer with only the highest bit set.
template <class Format, class Integer, ct_rounding mode>
CT_INLINE Integer ct_decode_integer(unsigned short bits) {
    return ct_to_integer<Integer, mode>(ct_decode<Format>(bits),
                                        sizeof(Integer) == 8 ? Integer(0x8000000000000000) : Integer(0));
}

// a + b rounded to nearest, even if double cannot hold the sum.
template <class Format>
CT_INLINE typename Format::bits ct_round_sum(double a, double b) {
    const double sum = a + b;
    if (!ct_finite_nonzero(sum)) return ct_round<Format, ct_nearest>(sum);
    return ct_encode<Format, ct_nearest>(ct_exactly(sum, ct_lost_in_sum(a, b, sum)));
}
