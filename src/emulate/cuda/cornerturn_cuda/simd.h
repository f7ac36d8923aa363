// CUDA's SIMD intrinsics: operations on the two 16-bit or four 8-bit lanes of a word.
#pragma once

#include "base.h"

// Applies `operation` to each lane and truncates the result to the lane's width. `Lane` is the signed or unsigned type
// of a lane.
template <class Lane, class Operation>
CT_INLINE unsigned int ct_for_lanes(unsigned int a, unsigned int b, Operation operation) {
    constexpr int bits = 8 * sizeof(Lane);
    constexpr unsigned int mask = (1u << bits) - 1;
    unsigned int result = 0;
    for (int i = 0; i < 32; i += bits)
        result |= ((unsigned int)operation(int(Lane(a >> i)), int(Lane(b >> i))) & mask) << i;
    return result;
}
template <class Lane>
CT_INLINE unsigned int ct_sum_of_differences(unsigned int a, unsigned int b) {
    unsigned int sum = 0;
    for (int i = 0; i < 32; i += 8 * sizeof(Lane))
        sum += (unsigned int)__builtin_abs(int(Lane(a >> i)) - int(Lane(b >> i)));
    return sum;
}
template <class Lane>
CT_INLINE int ct_saturated(int value) {
    constexpr bool is_signed = Lane(-1) < Lane(0);
    constexpr int largest = (1 << (8 * sizeof(Lane) - is_signed)) - 1, smallest = is_signed ? -largest - 1 : 0;
    return value > largest ? largest : value < smallest ? smallest : value;
}

// name2 works on 16-bit lanes, name4 on 8-bit lanes. The expression uses the type `Lane` of a lane and its values a, b.
#define CT_ONE_SIMD(name, parameters, b_word, Lane_type, ...)                                                   \
    CT_INLINE unsigned int name parameters {                                                                    \
        using Lane = Lane_type;                                                                                 \
        return ct_for_lanes<Lane>(                                                                              \
            a_word, b_word, []([[maybe_unused]] int a, [[maybe_unused]] int b) __attribute__((always_inline)) { \
                return __VA_ARGS__;                                                                             \
            });                                                                                                 \
    }
#define CT_SIGNED_SIMD(name, ...)                                                                \
    CT_ONE_SIMD(name##2, (unsigned int a_word, unsigned int b_word), b_word, short, __VA_ARGS__) \
    CT_ONE_SIMD(name##4, (unsigned int a_word, unsigned int b_word), b_word, signed char, __VA_ARGS__)
#define CT_UNSIGNED_SIMD(name, ...)                                                                       \
    CT_ONE_SIMD(name##2, (unsigned int a_word, unsigned int b_word), b_word, unsigned short, __VA_ARGS__) \
    CT_ONE_SIMD(name##4, (unsigned int a_word, unsigned int b_word), b_word, unsigned char, __VA_ARGS__)
#define CT_UNARY_SIMD(name, ...)                                       \
    CT_ONE_SIMD(name##2, (unsigned int a_word), 0, short, __VA_ARGS__) \
    CT_ONE_SIMD(name##4, (unsigned int a_word), 0, signed char, __VA_ARGS__)

CT_UNSIGNED_SIMD(__vadd, a + b)
CT_SIGNED_SIMD(__vaddss, ct_saturated<Lane>(a + b))
CT_UNSIGNED_SIMD(__vaddus, ct_saturated<Lane>(a + b))
CT_UNSIGNED_SIMD(__vsub, a - b)
CT_SIGNED_SIMD(__vsubss, ct_saturated<Lane>(a - b))
CT_UNSIGNED_SIMD(__vsubus, ct_saturated<Lane>(a - b))
CT_UNARY_SIMD(__vneg, -a)
CT_UNARY_SIMD(__vnegss, ct_saturated<Lane>(-a))
CT_UNARY_SIMD(__vabs, __builtin_abs(a))
CT_UNARY_SIMD(__vabsss, ct_saturated<Lane>(__builtin_abs(a)))
CT_SIGNED_SIMD(__vabsdiffs, __builtin_abs(a - b))
CT_UNSIGNED_SIMD(__vabsdiffu, __builtin_abs(a - b))
CT_SIGNED_SIMD(__vmaxs, a < b ? b : a)
CT_UNSIGNED_SIMD(__vmaxu, a < b ? b : a)
CT_SIGNED_SIMD(__vmins, b < a ? b : a)
CT_UNSIGNED_SIMD(__vminu, b < a ? b : a)
CT_SIGNED_SIMD(__vavgs, (a + b + (a + b >= 0)) >> 1)  // halves are rounded away from 0
CT_UNSIGNED_SIMD(__vavgu, (a + b + 1) >> 1)
CT_UNSIGNED_SIMD(__vhaddu, (a + b) >> 1)

// Comparisons. If true, they set all bits of the lane (__vcmp...) or its lowest bit (__vset...).
#define CT_SIMD_COMPARISON(kind, name, ...) \
    CT_##kind##_SIMD(__vcmp##name, (__VA_ARGS__) ? -1 : 0) CT_##kind##_SIMD(__vset##name, (__VA_ARGS__) ? 1 : 0)
CT_SIMD_COMPARISON(UNSIGNED, eq, a == b)
CT_SIMD_COMPARISON(UNSIGNED, ne, a != b)
CT_SIMD_COMPARISON(SIGNED, ges, a >= b)
CT_SIMD_COMPARISON(UNSIGNED, geu, a >= b)
CT_SIMD_COMPARISON(SIGNED, gts, a > b)
CT_SIMD_COMPARISON(UNSIGNED, gtu, a > b)
CT_SIMD_COMPARISON(SIGNED, les, a <= b)
CT_SIMD_COMPARISON(UNSIGNED, leu, a <= b)
CT_SIMD_COMPARISON(SIGNED, lts, a < b)
CT_SIMD_COMPARISON(UNSIGNED, ltu, a < b)

#undef CT_SIMD_COMPARISON
#undef CT_UNARY_SIMD
#undef CT_UNSIGNED_SIMD
#undef CT_SIGNED_SIMD
#undef CT_ONE_SIMD

CT_INLINE unsigned int __vsads2(unsigned int a, unsigned int b) { return ct_sum_of_differences<short>(a, b); }
CT_INLINE unsigned int __vsadu2(unsigned int a, unsigned int b) { return ct_sum_of_differences<unsigned short>(a, b); }
CT_INLINE unsigned int __vsads4(unsigned int a, unsigned int b) { return ct_sum_of_differences<signed char>(a, b); }
CT_INLINE unsigned int __vsadu4(unsigned int a, unsigned int b) { return ct_sum_of_differences<unsigned char>(a, b); }
