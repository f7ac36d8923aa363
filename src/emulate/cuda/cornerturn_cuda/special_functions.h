// Functions that the C library lacks: sine and cosine of multiples of pi, and the inverses of the error functions.
#pragma once

#include <math.h>

#include "base.h"

// sin(pi * a). The reduction of a to a quadrant and a rest of at most 1/4 is exact, because fmod and rint are exact.
inline double ct_sine_of_half_turns(double a) {
    if (a - a != 0) return a - a;  // NaN for infinities too
    const double turn = fmod(a, 2.0), quadrant = rint(2 * turn),
                 rest = (turn - 0.5 * quadrant) * 3.14159265358979323846;
    const int which = int(quadrant) & 3;
    const double value = which & 1 ? cos(rest) : sin(rest);
    // For an integer, the result is 0 with the sign of the argument.
    if (value == 0) return copysign(0.0, a);
    return which & 2 ? -value : value;
}
inline double ct_cosine_of_half_turns(double a) {
    if (a - a != 0) return a - a;
    const double turn = fmod(fabs(a), 2.0), quadrant = rint(2 * turn);
    const double rest = (turn - 0.5 * quadrant) * 3.14159265358979323846;
    const int which = int(quadrant) & 3;
    const double value = which & 1 ? sin(rest) : cos(rest);
    if (value == 0) return 0.0;
    return which == 1 || which == 2 ? -value : value;
}

// exp(a * a) * erfc(a). Above 25, erfc leaves the range of normal numbers, and a continued fraction is exact enough.
inline double ct_erfcx(double a) {
    if (a < 25) {
        const double square = a * a, rest = fma(a, a, -square);
        const double scale = exp(square);
        return isinf(scale) ? scale : (scale + scale * rest) * erfc(a);
    }
    double fraction = a;
    for (int i = 10; i > 0; --i) fraction = a + 0.5 * i / fraction;
    return 0.56418958354775628695 / fraction;
}

// The a with erfc(a) == value, for values up to 0.5. It starts from a few correct digits. Each of Halley's steps
// triples their number.
inline double ct_erfcinv_of_tail(double value) {
    const double root = sqrt(-2 * log(0.5 * value));
    // Abramowitz and Stegun 26.2.23, for the normal distribution.
    double a = (root - (2.515517 + root * (0.802853 + root * 0.010328)) /
                           (1 + root * (1.432788 + root * (0.189269 + root * 0.001308)))) *
               0.70710678118654752440;
    for (int i = 0; i < 3; ++i) {
        // (erfc(a) - value) / (2 / sqrt(pi) * exp(-a * a)). erfcx is used because its factors do not underflow.
        const double step = (ct_erfcx(a) - value * exp(a * a)) * 0.88622692545275801365;
        a += step / (1 + a * step);
    }
    return a;
}

inline double ct_erfinv(double value) {
    const double size = fabs(value);
    if (!(size <= 1)) return __builtin_nan("");
    if (size == 1) return copysign(__builtin_inf(), value);
    if (size > 0.5) return copysign(ct_erfcinv_of_tail(1 - size), value);
    // Halley's steps on erf: with erfc, 1 - size would lose the digits of a small value.
    double a = size * 0.88622692545275801365 * (1 + 0.26179938779914943654 * size * size);
    for (int i = 0; i < 4; ++i) {
        const double step = (erf(a) - size) * exp(a * a) * 0.88622692545275801365;
        a -= step / (1 + a * step);
    }
    return copysign(a, value);
}

inline double ct_erfcinv(double value) {
    if (!(value >= 0 && value <= 2)) return __builtin_nan("");
    if (value == 0) return __builtin_inf();
    return value < 0.5 ? ct_erfcinv_of_tail(value) : ct_erfinv(1 - value);
}

// erfc(-a / sqrt(2)) / 2. In the left tail, the rounding error of the quotient would cost digits, so it is corrected.
inline double ct_normcdf(double a) {
    constexpr double high = -0.70710678118654752440, low = 4.833646656726457e-17;  // -1 / sqrt(2)
    const double quotient = a * high;
    if (!(a < 0) || !(a > -40)) return 0.5 * erfc(quotient);
    const double rest = fma(a, high, -quotient) + a * low;
    return 0.5 * (erfc(quotient) - rest * 1.12837916709551257390 * exp(-quotient * quotient));
}
