// CUDA's mathematical functions. The C library has most of them; this file has the others.
//
// The fast ones, such as __expf, are as exact here as the others.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "base.h"
#include "rounding.h"
#include "special_functions.h"

// Replaces calls of a function of the C library. With gnu_inline, its address is still that of the library's function.
#define CT_INSTEAD extern "C" inline __attribute__((gnu_inline, always_inline))

// Later versions of the C library have these functions for double and float, with larger errors than CUDA's.
#ifdef __GLIBC__
#define CT_LIBRARY_IS(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define CT_LIBRARY_IS(major, minor) 0
#endif
#if CT_LIBRARY_IS(2, 41)
#define CT_SINCE_2_41 CT_INSTEAD
#else
#define CT_SINCE_2_41 CT_INLINE
#endif
#if CT_LIBRARY_IS(2, 42)
#define CT_SINCE_2_42 CT_INSTEAD
#else
#define CT_SINCE_2_42 CT_INLINE
#endif
CT_SINCE_2_41 double sinpi(double a) noexcept { return ct_sine_of_half_turns(a); }
CT_SINCE_2_41 double cospi(double a) noexcept { return ct_cosine_of_half_turns(a); }
CT_SINCE_2_41 float sinpif(float a) noexcept { return float(ct_sine_of_half_turns(a)); }
CT_SINCE_2_41 float cospif(float a) noexcept { return float(ct_cosine_of_half_turns(a)); }
CT_SINCE_2_42 double rsqrt(double a) noexcept { return double(1 / __builtin_sqrtl(a)); }
CT_SINCE_2_42 float rsqrtf(float a) noexcept { return float(1 / __builtin_sqrt(double(a))); }
#undef CT_SINCE_2_41
#undef CT_SINCE_2_42
#undef CT_LIBRARY_IS

CT_INLINE float sinpi(float a) { return float(ct_sine_of_half_turns(a)); }
CT_INLINE float cospi(float a) { return float(ct_cosine_of_half_turns(a)); }
CT_INLINE float rsqrt(float a) { return float(1 / __builtin_sqrt(double(a))); }
CT_INLINE double rcbrt(double a) { return double(1 / cbrtl(a)); }
CT_INLINE float rcbrtf(float a) { return float(1 / cbrt(double(a))); }
CT_INLINE float rcbrt(float a) { return rcbrtf(a); }
CT_INLINE float exp10(float a) { return exp10f(a); }

// The emulator would not see the stores of the C library's functions.
CT_INSTEAD void sincos(double a, double* sine, double* cosine) noexcept {
    *sine = sin(a);
    *cosine = cos(a);
}
CT_INSTEAD void sincosf(float a, float* sine, float* cosine) noexcept {
    *sine = sinf(a);
    *cosine = cosf(a);
}
CT_INSTEAD double modf(double a, double* whole) noexcept {
    const double integer = trunc(a);
    *whole = integer;
    return copysign(isinf(a) ? 0 : a - integer, a);
}
CT_INSTEAD float modff(float a, float* whole) noexcept {
    const float integer = truncf(a);
    *whole = integer;
    return copysignf(isinf(a) ? 0 : a - integer, a);
}
CT_INSTEAD double frexp(double a, int* exponent) noexcept {
    const bool plain = ct_finite_nonzero(a);
    const ct_parts parts = ct_split(a);
    *exponent = plain ? parts.exponent + 1 : 0;
    return plain ? 0.5 * parts.fraction : a;
}
CT_INSTEAD float frexpf(float a, int* exponent) noexcept { return float(frexp(double(a), exponent)); }
#undef CT_INSTEAD
CT_INLINE void sincos(float a, float* sine, float* cosine) { sincosf(a, sine, cosine); }
CT_INLINE void sincospi(double a, double* sine, double* cosine) {
    *sine = sinpi(a);
    *cosine = cospi(a);
}
CT_INLINE void sincospif(float a, float* sine, float* cosine) {
    *sine = sinpif(a);
    *cosine = cospif(a);
}
CT_INLINE void sincospi(float a, float* sine, float* cosine) { sincospif(a, sine, cosine); }

CT_INLINE double erfinv(double a) { return ct_erfinv(a); }
CT_INLINE float erfinvf(float a) { return float(ct_erfinv(a)); }
CT_INLINE float erfinv(float a) { return erfinvf(a); }
CT_INLINE double erfcinv(double a) { return ct_erfcinv(a); }
CT_INLINE float erfcinvf(float a) { return float(ct_erfcinv(a)); }
CT_INLINE float erfcinv(float a) { return erfcinvf(a); }
CT_INLINE double erfcx(double a) { return ct_erfcx(a); }
CT_INLINE float erfcxf(float a) { return float(ct_erfcx(a)); }
CT_INLINE float erfcx(float a) { return erfcxf(a); }
CT_INLINE double normcdf(double a) { return ct_normcdf(a); }
CT_INLINE float normcdff(float a) { return float(normcdf(double(a))); }
CT_INLINE float normcdf(float a) { return normcdff(a); }
CT_INLINE double normcdfinv(double a) { return -1.41421356237309504880 * ct_erfcinv(2 * a); }
CT_INLINE float normcdfinvf(float a) { return float(normcdfinv(double(a))); }
CT_INLINE float normcdfinv(float a) { return normcdfinvf(a); }

// The lengths of vectors, and their reciprocals (r...). They use long double to avoid a second rounding to double.
CT_INLINE long double ct_length(long double a, long double b, long double c = 0, long double d = 0) {
    return hypotl(hypotl(a, b), hypotl(c, d));
}
CT_INLINE double rhypot(double a, double b) { return double(1 / ct_length(a, b)); }
CT_INLINE float rhypotf(float a, float b) { return float(1 / hypot(double(a), double(b))); }
CT_INLINE float rhypot(float a, float b) { return rhypotf(a, b); }
CT_INLINE double norm3d(double a, double b, double c) { return double(ct_length(a, b, c)); }
CT_INLINE float norm3df(float a, float b, float c) { return float(ct_length(a, b, c)); }
CT_INLINE double rnorm3d(double a, double b, double c) { return double(1 / ct_length(a, b, c)); }
CT_INLINE float rnorm3df(float a, float b, float c) { return float(1 / ct_length(a, b, c)); }
CT_INLINE double norm4d(double a, double b, double c, double d) { return double(ct_length(a, b, c, d)); }
CT_INLINE float norm4df(float a, float b, float c, float d) { return float(ct_length(a, b, c, d)); }
CT_INLINE double rnorm4d(double a, double b, double c, double d) { return double(1 / ct_length(a, b, c, d)); }
CT_INLINE float rnorm4df(float a, float b, float c, float d) { return float(1 / ct_length(a, b, c, d)); }
CT_INLINE double norm(int count, const double* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, values[i]);
    return length;
}
CT_INLINE float normf(int count, const float* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, double(values[i]));
    return float(length);
}
CT_INLINE double rnorm(int count, const double* values) { return 1 / norm(count, values); }
CT_INLINE float rnormf(int count, const float* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, double(values[i]));
    return float(1 / length);
}

CT_INLINE float j0(float a) { return j0f(a); }
CT_INLINE float j1(float a) { return j1f(a); }
CT_INLINE float jn(int n, float a) { return jnf(n, a); }
CT_INLINE float y0(float a) { return y0f(a); }
CT_INLINE float y1(float a) { return y1f(a); }
CT_INLINE float yn(int n, float a) { return ynf(n, a); }
CT_INLINE double cyl_bessel_i0(double a) { return std::cyl_bessel_i(0.0, fabs(a)); }
CT_INLINE double cyl_bessel_i1(double a) { return copysign(std::cyl_bessel_i(1.0, fabs(a)), a); }
CT_INLINE float cyl_bessel_i0f(float a) { return float(cyl_bessel_i0(double(a))); }
CT_INLINE float cyl_bessel_i1f(float a) { return float(cyl_bessel_i1(double(a))); }
CT_INLINE float cyl_bessel_i0(float a) { return cyl_bessel_i0f(a); }
CT_INLINE float cyl_bessel_i1(float a) { return cyl_bessel_i1f(a); }

// In the fast division, the quotient is 0 if the divisor is above 2^126, because its reciprocal underflows.
CT_INLINE float fdividef(float a, float b) { return a / b; }
CT_INLINE double fdivide(double a, double b) { return a / b; }
CT_INLINE float fdivide(float a, float b) { return a / b; }
CT_INLINE float __fdividef(float a, float b) {
    const float size = __builtin_fabsf(b);
    return size > 0x1p126f && size < __builtin_inff() ? a * 0.0f : a / b;
}
CT_INLINE float __expf(float a) { return expf(a); }
CT_INLINE float __exp10f(float a) { return exp10f(a); }
CT_INLINE float __logf(float a) { return logf(a); }
CT_INLINE float __log2f(float a) { return log2f(a); }
CT_INLINE float __log10f(float a) { return log10f(a); }
CT_INLINE float __powf(float a, float b) { return float(exp2(b * log2(double(a)))); }  // NaN if a is negative
CT_INLINE float __sinf(float a) { return sinf(a); }
CT_INLINE float __cosf(float a) { return cosf(a); }
CT_INLINE float __tanf(float a) { return tanf(a); }
CT_INLINE float __tanhf(float a) { return tanhf(a); }
CT_INLINE void __sincosf(float a, float* sine, float* cosine) { sincosf(a, sine, cosine); }
CT_INLINE float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }  // NaN becomes 0

CT_INLINE int min(int a, int b) { return b < a ? b : a; }
CT_INLINE unsigned int min(unsigned int a, unsigned int b) { return b < a ? b : a; }
CT_INLINE unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
CT_INLINE unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
CT_INLINE long min(long a, long b) { return b < a ? b : a; }
CT_INLINE unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
CT_INLINE unsigned long min(long a, unsigned long b) { return min((unsigned long)a, b); }
CT_INLINE unsigned long min(unsigned long a, long b) { return min(a, (unsigned long)b); }
CT_INLINE long long min(long long a, long long b) { return b < a ? b : a; }
CT_INLINE unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
CT_INLINE unsigned long long min(long long a, unsigned long long b) { return min((unsigned long long)a, b); }
CT_INLINE unsigned long long min(unsigned long long a, long long b) { return min(a, (unsigned long long)b); }
CT_INLINE float min(float a, float b) { return fminf(a, b); }
CT_INLINE double min(double a, double b) { return fmin(a, b); }
CT_INLINE double min(float a, double b) { return fmin(double(a), b); }
CT_INLINE double min(double a, float b) { return fmin(a, double(b)); }

CT_INLINE int max(int a, int b) { return a < b ? b : a; }
CT_INLINE unsigned int max(unsigned int a, unsigned int b) { return a < b ? b : a; }
CT_INLINE unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
CT_INLINE unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
CT_INLINE long max(long a, long b) { return a < b ? b : a; }
CT_INLINE unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
CT_INLINE unsigned long max(long a, unsigned long b) { return max((unsigned long)a, b); }
CT_INLINE unsigned long max(unsigned long a, long b) { return max(a, (unsigned long)b); }
CT_INLINE long long max(long long a, long long b) { return a < b ? b : a; }
CT_INLINE unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
CT_INLINE unsigned long long max(long long a, unsigned long long b) { return max((unsigned long long)a, b); }
CT_INLINE unsigned long long max(unsigned long long a, long long b) { return max(a, (unsigned long long)b); }
CT_INLINE float max(float a, float b) { return fmaxf(a, b); }
CT_INLINE double max(double a, double b) { return fmax(a, b); }
CT_INLINE double max(float a, double b) { return fmax(double(a), b); }
CT_INLINE double max(double a, float b) { return fmax(a, double(b)); }

CT_INLINE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
CT_INLINE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
CT_INLINE long long llmin(long long a, long long b) { return min(a, b); }
CT_INLINE long long llmax(long long a, long long b) { return max(a, b); }
CT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
CT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
