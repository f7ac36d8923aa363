// Conversions of 16-bit floats. See small_float.h: this file has no include guard.
//
// CT_NAME(before, after) is a function's name with "half" or "bfloat16" in its middle.

template <ct_rounding mode = ct_nearest>
CT_INLINE CT_SMALL CT_NAME(ct_rounded_to_, )(double a) {
    return CT_RAW{ct_round<CT_FORMAT, mode>(a)};
}

CT_INLINE float CT_NAME(__, 2float)(CT_SMALL a) { return ct_decode<CT_FORMAT>(a.__x); }
CT_INLINE CT_SMALL CT_NAME(__float2, )(float a) { return CT_NAME(ct_rounded_to_, )(a); }
CT_INLINE CT_SMALL CT_NAME(__float2, _rn)(float a) { return CT_NAME(ct_rounded_to_, )(a); }
CT_INLINE CT_SMALL CT_NAME(__float2, _rz)(float a) { return CT_NAME(ct_rounded_to_, )<ct_to_zero>(a); }
CT_INLINE CT_SMALL CT_NAME(__float2, _ru)(float a) { return CT_NAME(ct_rounded_to_, )<ct_upward>(a); }
CT_INLINE CT_SMALL CT_NAME(__float2, _rd)(float a) { return CT_NAME(ct_rounded_to_, )<ct_downward>(a); }
CT_INLINE CT_SMALL CT_NAME(__double2, )(double a) { return CT_NAME(ct_rounded_to_, )(a); }

// Conversions to and from one integer type in one rounding mode.
#define CT_ONE_CONVERSION(name, type, suffix, mode)             \
    CT_INLINE type CT_NAME(__, 2##name##suffix)(CT_SMALL a) {   \
        return ct_decode_integer<CT_FORMAT, type, mode>(a.__x); \
    }                                                           \
    CT_INLINE CT_SMALL CT_NAME(__##name##2, suffix)(type a) { return CT_RAW{ct_round_integer<CT_FORMAT, mode>(a)}; }
#define CT_CONVERSIONS(name, type)                 \
    CT_ONE_CONVERSION(name, type, _rn, ct_nearest) \
    CT_ONE_CONVERSION(name, type, _rz, ct_to_zero) \
    CT_ONE_CONVERSION(name, type, _ru, ct_upward)  \
    CT_ONE_CONVERSION(name, type, _rd, ct_downward)
CT_CONVERSIONS(short, short)
CT_CONVERSIONS(ushort, unsigned short)
CT_CONVERSIONS(int, int)
CT_CONVERSIONS(uint, unsigned int)
CT_CONVERSIONS(ll, long long)
CT_CONVERSIONS(ull, unsigned long long)
#undef CT_CONVERSIONS
#undef CT_ONE_CONVERSION
CT_INLINE signed char CT_NAME(__, 2char_rz)(CT_SMALL a) {
    return ct_decode_integer<CT_FORMAT, signed char, ct_to_zero>(a.__x);
}
CT_INLINE unsigned char CT_NAME(__, 2uchar_rz)(CT_SMALL a) {
    return ct_decode_integer<CT_FORMAT, unsigned char, ct_to_zero>(a.__x);
}

CT_INLINE short CT_NAME(__, _as_short)(CT_SMALL a) { return short(a.__x); }
CT_INLINE unsigned short CT_NAME(__, _as_ushort)(CT_SMALL a) { return a.__x; }
CT_INLINE CT_SMALL CT_NAME(__short_as_, )(short a) { return CT_RAW{(unsigned short)a}; }
CT_INLINE CT_SMALL CT_NAME(__ushort_as_, )(unsigned short a) { return CT_RAW{a}; }

// Pairs: the low half is x, the high half y.
CT_INLINE CT_PAIR CT_NAME(make_, 2)(CT_SMALL low, CT_SMALL high) { return CT_PAIR(low, high); }
CT_INLINE CT_PAIR CT_NAME(__halves2, 2)(CT_SMALL low, CT_SMALL high) { return CT_PAIR(low, high); }
CT_INLINE CT_PAIR CT_NAME_TWICE(__, 2, 2)(CT_SMALL a) { return CT_PAIR(a, a); }
CT_INLINE CT_PAIR CT_NAME(__float2, 2_rn)(float a) {
    const CT_SMALL both = CT_NAME(ct_rounded_to_, )(a);
    return CT_PAIR(both, both);
}
CT_INLINE CT_PAIR CT_NAME(__floats2, 2_rn)(float low, float high) {
    return CT_PAIR(CT_NAME(ct_rounded_to_, )(low), CT_NAME(ct_rounded_to_, )(high));
}
CT_INLINE CT_PAIR CT_NAME(__float22, 2_rn)(float2 a) { return CT_NAME(__floats2, 2_rn)(a.x, a.y); }
CT_INLINE float2 CT_NAME(__, 22float2)(CT_PAIR a) { return float2{CT_NAME(__, 2float)(a.x), CT_NAME(__, 2float)(a.y)}; }
CT_INLINE float __low2float(CT_PAIR a) { return CT_NAME(__, 2float)(a.x); }
CT_INLINE float __high2float(CT_PAIR a) { return CT_NAME(__, 2float)(a.y); }
CT_INLINE CT_SMALL CT_NAME(__low2, )(CT_PAIR a) { return a.x; }
CT_INLINE CT_SMALL CT_NAME(__high2, )(CT_PAIR a) { return a.y; }
CT_INLINE CT_PAIR CT_NAME(__low2, 2)(CT_PAIR a) { return CT_PAIR(a.x, a.x); }
CT_INLINE CT_PAIR CT_NAME(__high2, 2)(CT_PAIR a) { return CT_PAIR(a.y, a.y); }
CT_INLINE CT_PAIR __lowhigh2highlow(CT_PAIR a) { return CT_PAIR(a.y, a.x); }
CT_INLINE CT_PAIR CT_NAME(__lows2, 2)(CT_PAIR a, CT_PAIR b) { return CT_PAIR(a.x, b.x); }
CT_INLINE CT_PAIR CT_NAME(__highs2, 2)(CT_PAIR a, CT_PAIR b) { return CT_PAIR(a.y, b.y); }
