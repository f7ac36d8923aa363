// Arithmetic, comparisons and functions of 16-bit floats. See small_float.h: this file has no include guard.
//
// A result is computed in double, then rounded to the format. Double has more than twice the digits of a 16-bit float.
// So for sums, products, quotients and square roots, rounding twice equals rounding once. This does not hold for the
// fused multiply-add.

CT_INLINE double CT_NAME(ct_double_of_, )(CT_SMALL a) { return ct_decode<CT_FORMAT>(a.__x); }

CT_INLINE CT_SMALL __hadd(CT_SMALL a, CT_SMALL b) {
    return CT_NAME(ct_rounded_to_, )(CT_NAME(ct_double_of_, )(a) + CT_NAME(ct_double_of_, )(b));
}
CT_INLINE CT_SMALL __hsub(CT_SMALL a, CT_SMALL b) {
    return CT_NAME(ct_rounded_to_, )(CT_NAME(ct_double_of_, )(a) - CT_NAME(ct_double_of_, )(b));
}
CT_INLINE CT_SMALL __hmul(CT_SMALL a, CT_SMALL b) {
    return CT_NAME(ct_rounded_to_, )(CT_NAME(ct_double_of_, )(a) * CT_NAME(ct_double_of_, )(b));
}
CT_INLINE CT_SMALL __hdiv(CT_SMALL a, CT_SMALL b) {
    return CT_NAME(ct_rounded_to_, )(CT_NAME(ct_double_of_, )(a) / CT_NAME(ct_double_of_, )(b));
}
CT_INLINE CT_SMALL __hfma(CT_SMALL a, CT_SMALL b, CT_SMALL c) {
    const double product = CT_NAME(ct_double_of_, )(a) * CT_NAME(ct_double_of_, )(b);
    return CT_RAW{ct_round_sum<CT_FORMAT>(product, CT_NAME(ct_double_of_, )(c))};
}
CT_INLINE CT_SMALL __hneg(CT_SMALL a) { return CT_RAW{(unsigned short)(a.__x ^ 0x8000)}; }
CT_INLINE CT_SMALL __habs(CT_SMALL a) { return CT_RAW{(unsigned short)(a.__x & 0x7fff)}; }

// These forbid nvcc to fuse a product and a sum. Here nothing is fused anyway.
CT_INLINE CT_SMALL __hadd_rn(CT_SMALL a, CT_SMALL b) { return __hadd(a, b); }
CT_INLINE CT_SMALL __hsub_rn(CT_SMALL a, CT_SMALL b) { return __hsub(a, b); }
CT_INLINE CT_SMALL __hmul_rn(CT_SMALL a, CT_SMALL b) { return __hmul(a, b); }

CT_INLINE bool __hisnan(CT_SMALL a) { return (a.__x & 0x7fff) > ct_infinity_of<CT_FORMAT>; }
CT_INLINE int __hisinf(CT_SMALL a) {
    return (a.__x & 0x7fff) != ct_infinity_of<CT_FORMAT> ? 0 : a.__x & 0x8000 ? -1 : 1;
}

// Clamps to the range from 0 to 1. NaN becomes 0.
CT_INLINE CT_SMALL CT_NAME(ct_saturated_, )(CT_SMALL a) {
    const float value = CT_NAME(__, 2float)(a);
    return value >= 1 ? CT_NAME(ct_rounded_to_, )(1) : value > 0 ? a : CT_SMALL(CT_RAW{0});
}
CT_INLINE CT_SMALL __hadd_sat(CT_SMALL a, CT_SMALL b) { return CT_NAME(ct_saturated_, )(__hadd(a, b)); }
CT_INLINE CT_SMALL __hsub_sat(CT_SMALL a, CT_SMALL b) { return CT_NAME(ct_saturated_, )(__hsub(a, b)); }
CT_INLINE CT_SMALL __hmul_sat(CT_SMALL a, CT_SMALL b) { return CT_NAME(ct_saturated_, )(__hmul(a, b)); }
CT_INLINE CT_SMALL __hfma_sat(CT_SMALL a, CT_SMALL b, CT_SMALL c) { return CT_NAME(ct_saturated_, )(__hfma(a, b, c)); }
CT_INLINE CT_SMALL __hfma_relu(CT_SMALL a, CT_SMALL b, CT_SMALL c) {
    const CT_SMALL result = __hfma(a, b, c);
    return (result.__x & 0x8000) && !__hisnan(result) ? CT_SMALL(CT_RAW{0}) : result;
}

// Comparisons. With a NaN, the ordered ones (__heq) are false and the unordered ones (__hequ) are true. Comparisons of
// pairs return 1 or 0 in each half (__heq2), one result for both halves (__hbeq2), or a mask of bits (__heq2_mask).
#define CT_COMPARISON(name, relation, unordered)                                                                \
    CT_INLINE bool name(CT_SMALL a, CT_SMALL b) {                                                               \
        return __hisnan(a) || __hisnan(b) ? unordered : CT_NAME(__, 2float)(a) relation CT_NAME(__, 2float)(b); \
    }                                                                                                           \
    CT_INLINE CT_PAIR name##2(CT_PAIR a, CT_PAIR b) {                                                           \
        return CT_PAIR(CT_NAME(ct_rounded_to_, )(name(a.x, b.x)), CT_NAME(ct_rounded_to_, )(name(a.y, b.y)));   \
    }                                                                                                           \
    CT_INLINE unsigned int name##2_mask(CT_PAIR a, CT_PAIR b) {                                                 \
        return (name(a.x, b.x) ? 0xffffu : 0u) | (name(a.y, b.y) ? 0xffff0000u : 0u);                           \
    }
#define CT_COMPARISONS(relation_name, relation)                                    \
    CT_COMPARISON(__h##relation_name, relation, false)                             \
    CT_COMPARISON(__h##relation_name##u, relation, true)                           \
    CT_INLINE bool __hb##relation_name##2(CT_PAIR a, CT_PAIR b) {                  \
        return __h##relation_name(a.x, b.x) && __h##relation_name(a.y, b.y);       \
    }                                                                              \
    CT_INLINE bool __hb##relation_name##u2(CT_PAIR a, CT_PAIR b) {                 \
        return __h##relation_name##u(a.x, b.x) && __h##relation_name##u(a.y, b.y); \
    }
CT_COMPARISONS(eq, ==)
CT_COMPARISONS(ne, !=)
CT_COMPARISONS(lt, <)
CT_COMPARISONS(le, <=)
CT_COMPARISONS(gt, >)
CT_COMPARISONS(ge, >=)
#undef CT_COMPARISONS
#undef CT_COMPARISON

// Maximum and minimum. If only one argument is NaN, the result is the other one. -0 is less than +0.
CT_INLINE CT_SMALL CT_NAME(ct_nan_, )() { return CT_RAW{CT_FORMAT::nan}; }
CT_INLINE bool CT_NAME(ct_less_, )(CT_SMALL a, CT_SMALL b) {
    const float x = CT_NAME(__, 2float)(a), y = CT_NAME(__, 2float)(b);
    return x < y || (x == y && a.__x > b.__x);
}
CT_INLINE CT_SMALL __hmax(CT_SMALL a, CT_SMALL b) {
    if (__hisnan(a)) return __hisnan(b) ? CT_NAME(ct_nan_, )() : b;
    return CT_NAME(ct_less_, )(a, b) ? b : a;
}
CT_INLINE CT_SMALL __hmin(CT_SMALL a, CT_SMALL b) {
    if (__hisnan(a)) return __hisnan(b) ? CT_NAME(ct_nan_, )() : b;
    return CT_NAME(ct_less_, )(b, a) ? b : a;
}
CT_INLINE CT_SMALL __hmax_nan(CT_SMALL a, CT_SMALL b) {
    return __hisnan(a) || __hisnan(b) ? CT_NAME(ct_nan_, )() : __hmax(a, b);
}
CT_INLINE CT_SMALL __hmin_nan(CT_SMALL a, CT_SMALL b) {
    return __hisnan(a) || __hisnan(b) ? CT_NAME(ct_nan_, )() : __hmin(a, b);
}

// Functions of one number, and of each number of a pair.
#define CT_FUNCTION(name, expression)                     \
    CT_INLINE CT_SMALL h##name(CT_SMALL small) {          \
        const double a = CT_NAME(ct_double_of_, )(small); \
        return CT_NAME(ct_rounded_to_, )(expression);     \
    }                                                     \
    CT_INLINE CT_PAIR h2##name(CT_PAIR pair) { return CT_PAIR(h##name(pair.x), h##name(pair.y)); }
CT_FUNCTION(sqrt, ::sqrt(a))
CT_FUNCTION(rsqrt, 1 / ::sqrt(a))
CT_FUNCTION(rcp, 1 / a)
CT_FUNCTION(exp, ::exp(a))
CT_FUNCTION(exp2, ::exp2(a))
CT_FUNCTION(exp10, ::exp10(a))
CT_FUNCTION(log, ::log(a))
CT_FUNCTION(log2, ::log2(a))
CT_FUNCTION(log10, ::log10(a))
CT_FUNCTION(sin, ::sin(a))
CT_FUNCTION(cos, ::cos(a))
CT_FUNCTION(tanh, ::tanh(a))
CT_FUNCTION(tanh_approx, ::tanh(a))
CT_FUNCTION(ceil, ::ceil(a))
CT_FUNCTION(floor, ::floor(a))
CT_FUNCTION(trunc, ::trunc(a))
CT_FUNCTION(rint, ::rint(a))
#undef CT_FUNCTION

// Functions of pairs: each applies to both halves separately.
#define CT_PAIR_OF_ONE(name, scalar) \
    CT_INLINE CT_PAIR name(CT_PAIR a) { return CT_PAIR(scalar(a.x), scalar(a.y)); }
#define CT_PAIR_OF_TWO(name, scalar) \
    CT_INLINE CT_PAIR name(CT_PAIR a, CT_PAIR b) { return CT_PAIR(scalar(a.x, b.x), scalar(a.y, b.y)); }
#define CT_PAIR_OF_THREE(name, scalar)                                \
    CT_INLINE CT_PAIR name(CT_PAIR a, CT_PAIR b, CT_PAIR c) {         \
        return CT_PAIR(scalar(a.x, b.x, c.x), scalar(a.y, b.y, c.y)); \
    }
CT_PAIR_OF_ONE(__hneg2, __hneg)
CT_PAIR_OF_ONE(__habs2, __habs)
CT_PAIR_OF_TWO(__hadd2, __hadd)
CT_PAIR_OF_TWO(__hsub2, __hsub)
CT_PAIR_OF_TWO(__hmul2, __hmul)
CT_PAIR_OF_TWO(__h2div, __hdiv)
CT_PAIR_OF_TWO(__hadd2_rn, __hadd)
CT_PAIR_OF_TWO(__hsub2_rn, __hsub)
CT_PAIR_OF_TWO(__hmul2_rn, __hmul)
CT_PAIR_OF_TWO(__hadd2_sat, __hadd_sat)
CT_PAIR_OF_TWO(__hsub2_sat, __hsub_sat)
CT_PAIR_OF_TWO(__hmul2_sat, __hmul_sat)
CT_PAIR_OF_TWO(__hmax2, __hmax)
CT_PAIR_OF_TWO(__hmin2, __hmin)
CT_PAIR_OF_TWO(__hmax2_nan, __hmax_nan)
CT_PAIR_OF_TWO(__hmin2_nan, __hmin_nan)
CT_PAIR_OF_THREE(__hfma2, __hfma)
CT_PAIR_OF_THREE(__hfma2_sat, __hfma_sat)
CT_PAIR_OF_THREE(__hfma2_relu, __hfma_relu)
#undef CT_PAIR_OF_THREE
#undef CT_PAIR_OF_TWO
#undef CT_PAIR_OF_ONE

CT_INLINE CT_PAIR __hisnan2(CT_PAIR a) {
    return CT_PAIR(CT_NAME(ct_rounded_to_, )(__hisnan(a.x)), CT_NAME(ct_rounded_to_, )(__hisnan(a.y)));
}
// a * b + c of complex numbers: x is the real part, y the imaginary one.
CT_INLINE CT_PAIR __hcmadd(CT_PAIR a, CT_PAIR b, CT_PAIR c) {
    const CT_SMALL real = __hfma(a.x, b.x, c.x), imaginary = __hfma(a.x, b.y, c.y);
    return CT_PAIR(__hfma(__hneg(a.y), b.y, real), __hfma(a.y, b.x, imaginary));
}
