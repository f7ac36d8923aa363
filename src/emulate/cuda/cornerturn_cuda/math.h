// CUDA's mathematical functions. The C library has most of them; what follows is what it lacks.
//
// The fast ones (__expf and its kin) are as exact here as the others.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "base.h"
#include "rounding.h"
#include "special_functions.h"

// Stands for a function of the C library. gnu_inline leaves the library's in place for whoever takes its address.
#define CT_INSTEAD extern "C" inline __attribute__((gnu_inline, always_inline))

// Later versions of the C library have these for double and float, with larger errors than CUDA's.
#ifdef __GLIBC__
#define CT_LIBRARY_IS(major, minor) __GLIBC_PREREQ(major, minor)
#else
#define CT_LIBRARY_IS(major, minor) 0
#endif
#if CT_LIBRARY_IS(2, 41)
#define CT_SINCE_2_41 CT_INSTEAD
#else
#define CT_SINCE_2_41 CT_WORD
#endif
#if CT_LIBRARY_IS(2, 42)
#define CT_SINCE_2_42 CT_INSTEAD
#else
#define CT_SINCE_2_42 CT_WORD
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

CT_WORD float sinpi(float a) { return float(ct_sine_of_half_turns(a)); }
CT_WORD float cospi(float a) { return float(ct_cosine_of_half_turns(a)); }
CT_WORD float rsqrt(float a) { return float(1 / __builtin_sqrt(double(a))); }
CT_WORD double rcbrt(double a) { return double(1 / cbrtl(a)); }
CT_WORD float rcbrtf(float a) { return float(1 / cbrt(double(a))); }
CT_WORD float rcbrt(float a) { return rcbrtf(a); }
CT_WORD float exp10(float a) { return exp10f(a); }

// The C library's own would store their results unseen by the emulator.
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
CT_WORD void sincos(float a, float* sine, float* cosine) { sincosf(a, sine, cosine); }
CT_WORD void sincospi(double a, double* sine, double* cosine) {
    *sine = sinpi(a);
    *cosine = cospi(a);
}
CT_WORD void sincospif(float a, float* sine, float* cosine) {
    *sine = sinpif(a);
    *cosine = cospif(a);
}
CT_WORD void sincospi(float a, float* sine, float* cosine) { sincospif(a, sine, cosine); }

CT_WORD double erfinv(double a) { return ct_erfinv(a); }
CT_WORD float erfinvf(float a) { return float(ct_erfinv(a)); }
CT_WORD float erfinv(float a) { return erfinvf(a); }
CT_WORD double erfcinv(double a) { return ct_erfcinv(a); }
CT_WORD float erfcinvf(float a) { return float(ct_erfcinv(a)); }
CT_WORD float erfcinv(float a) { return erfcinvf(a); }
CT_WORD double erfcx(double a) { return ct_erfcx(a); }
CT_WORD float erfcxf(float a) { return float(ct_erfcx(a)); }
CT_WORD float erfcx(float a) { return erfcxf(a); }
CT_WORD double normcdf(double a) { return ct_normcdf(a); }
CT_WORD float normcdff(float a) { return float(normcdf(double(a))); }
CT_WORD float normcdf(float a) { return normcdff(a); }
CT_WORD double normcdfinv(double a) { return -1.41421356237309504880 * ct_erfcinv(2 * a); }
CT_WORD float normcdfinvf(float a) { return float(normcdfinv(double(a))); }
CT_WORD float normcdfinv(float a) { return normcdfinvf(a); }

// The lengths of vectors, and their reciprocals (r...). In long double, since two roundings to double are one too many.
CT_WORD long double ct_length(long double a, long double b, long double c = 0, long double d = 0) {
    return hypotl(hypotl(a, b), hypotl(c, d));
}
CT_WORD double rhypot(double a, double b) { return double(1 / ct_length(a, b)); }
CT_WORD float rhypotf(float a, float b) { return float(1 / hypot(double(a), double(b))); }
CT_WORD float rhypot(float a, float b) { return rhypotf(a, b); }
CT_WORD double norm3d(double a, double b, double c) { return double(ct_length(a, b, c)); }
CT_WORD float norm3df(float a, float b, float c) { return float(ct_length(a, b, c)); }
CT_WORD double rnorm3d(double a, double b, double c) { return double(1 / ct_length(a, b, c)); }
CT_WORD float rnorm3df(float a, float b, float c) { return float(1 / ct_length(a, b, c)); }
CT_WORD double norm4d(double a, double b, double c, double d) { return double(ct_length(a, b, c, d)); }
CT_WORD float norm4df(float a, float b, float c, float d) { return float(ct_length(a, b, c, d)); }
CT_WORD double rnorm4d(double a, double b, double c, double d) { return double(1 / ct_length(a, b, c, d)); }
CT_WORD float rnorm4df(float a, float b, float c, float d) { return float(1 / ct_length(a, b, c, d)); }
CT_WORD double norm(int count, const double* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, values[i]);
    return length;
}
CT_WORD float normf(int count, const float* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, double(values[i]));
    return float(length);
}
CT_WORD double rnorm(int count, const double* values) { return 1 / norm(count, values); }
CT_WORD float rnormf(int count, const float* values) {
    double length = 0;
    for (int i = 0; i < count; ++i) length = hypot(length, double(values[i]));
    return float(1 / length);
}

CT_WORD float j0(float a) { return j0f(a); }
CT_WORD float j1(float a) { return j1f(a); }
CT_WORD float jn(int n, float a) { return jnf(n, a); }
CT_WORD float y0(float a) { return y0f(a); }
CT_WORD float y1(float a) { return y1f(a); }
CT_WORD float yn(int n, float a) { return ynf(n, a); }
CT_WORD double cyl_bessel_i0(double a) { return std::cyl_bessel_i(0.0, fabs(a)); }
CT_WORD double cyl_bessel_i1(double a) { return copysign(std::cyl_bessel_i(1.0, fabs(a)), a); }
CT_WORD float cyl_bessel_i0f(float a) { return float(cyl_bessel_i0(double(a))); }
CT_WORD float cyl_bessel_i1f(float a) { return float(cyl_bessel_i1(double(a))); }
CT_WORD float cyl_bessel_i0(float a) { return cyl_bessel_i0f(a); }
CT_WORD float cyl_bessel_i1(float a) { return cyl_bessel_i1f(a); }

// A quotient by a divisor above 2^126 is 0 in the fast division, as its reciprocal underflows.
CT_WORD float fdividef(float a, float b) { return a / b; }
CT_WORD double fdivide(double a, double b) { return a / b; }
CT_WORD float fdivide(float a, float b) { return a / b; }
CT_WORD float __fdividef(float a, float b) {
    const float size = __builtin_fabsf(b);
    return size > 0x1p126f && size < __builtin_inff() ? a * 0.0f : a / b;
}
CT_WORD float __expf(float a) { return expf(a); }
CT_WORD float __exp10f(float a) { return exp10f(a); }
CT_WORD float __logf(float a) { return logf(a); }
CT_WORD float __log2f(float a) { return log2f(a); }
CT_WORD float __log10f(float a) { return log10f(a); }
CT_WORD float __powf(float a, float b) { return float(exp2(b * log2(double(a)))); }  // NaN where a is negative
CT_WORD float __sinf(float a) { return sinf(a); }
CT_WORD float __cosf(float a) { return cosf(a); }
CT_WORD float __tanf(float a) { return tanf(a); }
CT_WORD float __tanhf(float a) { return tanhf(a); }
CT_WORD void __sincosf(float a, float* sine, float* cosine) { sincosf(a, sine, cosine); }
CT_WORD float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }  // also of NaN: 0

CT_WORD int min(int a, int b) { return b < a ? b : a; }
CT_WORD unsigned int min(unsigned int a, unsigned int b) { return b < a ? b : a; }
CT_WORD unsigned int min(int a, unsigned int b) { return min((unsigned int)a, b); }
CT_WORD unsigned int min(unsigned int a, int b) { return min(a, (unsigned int)b); }
CT_WORD long min(long a, long b) { return b < a ? b : a; }
CT_WORD unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
CT_WORD unsigned long min(long a, unsigned long b) { return min((unsigned long)a, b); }
CT_WORD unsigned long min(unsigned long a, long b) { return min(a, (unsigned long)b); }
CT_WORD long long min(long long a, long long b) { return b < a ? b : a; }
CT_WORD unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
CT_WORD unsigned long long min(long long a, unsigned long long b) { return min((unsigned long long)a, b); }
CT_WORD unsigned long long min(unsigned long long a, long long b) { return min(a, (unsigned long long)b); }
CT_WORD float min(float a, float b) { return fminf(a, b); }
CT_WORD double min(double a, double b) { return fmin(a, b); }
CT_WORD double min(float a, double b) { return fmin(double(a), b); }
CT_WORD double min(double a, float b) { return fmin(a, double(b)); }

CT_WORD int max(int a, int b) { return a < b ? b : a; }
CT_WORD unsigned int max(unsigned int a, unsigned int b) { return a < b ? b : a; }
CT_WORD unsigned int max(int a, unsigned int b) { return max((unsigned int)a, b); }
CT_WORD unsigned int max(unsigned int a, int b) { return max(a, (unsigned int)b); }
CT_WORD long max(long a, long b) { return a < b ? b : a; }
CT_WORD unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
CT_WORD unsigned long max(long a, unsigned long b) { return max((unsigned long)a, b); }
CT_WORD unsigned long max(unsigned long a, long b) { return max(a, (unsigned long)b); }
CT_WORD long long max(long long a, long long b) { return a < b ? b : a; }
CT_WORD unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
CT_WORD unsigned long long max(long long a, unsigned long long b) { return max((unsigned long long)a, b); }
CT_WORD unsigned long long max(unsigned long long a, long long b) { return max(a, (unsigned long long)b); }
CT_WORD float max(float a, float b) { return fmaxf(a, b); }
CT_WORD double max(double a, double b) { return fmax(a, b); }
CT_WORD double max(float a, double b) { return fmax(double(a), b); }
CT_WORD double max(double a, float b) { return fmax(a, double(b)); }

CT_WORD unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
CT_WORD unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
CT_WORD long long llmin(long long a, long long b) { return min(a, b); }
CT_WORD long long llmax(long long a, long long b) { return max(a, b); }
CT_WORD unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
CT_WORD unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
