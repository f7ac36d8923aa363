// CUDA's complex numbers: x is the real part, y the imaginary part.
#pragma once

#include <math.h>

#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

CT_INLINE cuFloatComplex make_cuFloatComplex(float real, float imaginary) { return cuFloatComplex{real, imaginary}; }
CT_INLINE float cuCrealf(cuFloatComplex a) { return a.x; }
CT_INLINE float cuCimagf(cuFloatComplex a) { return a.y; }
CT_INLINE cuFloatComplex cuConjf(cuFloatComplex a) { return cuFloatComplex{a.x, -a.y}; }
CT_INLINE cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return cuFloatComplex{a.x + b.x, a.y + b.y}; }
CT_INLINE cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return cuFloatComplex{a.x - b.x, a.y - b.y}; }
CT_INLINE cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b) {
    return cuFloatComplex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
// Scaled, so that no square overflows or underflows.
CT_INLINE cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b) {
    const float scale = 1 / (fabsf(b.x) + fabsf(b.y));
    const float ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;
    const float factor = 1 / (bx * bx + by * by);
    return cuFloatComplex{(ax * bx + ay * by) * factor, (ay * bx - ax * by) * factor};
}
CT_INLINE float cuCabsf(cuFloatComplex a) { return hypotf(a.x, a.y); }
// a * b + c.
CT_INLINE cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c) {
    return cuFloatComplex{fmaf(-a.y, b.y, fmaf(a.x, b.x, c.x)), fmaf(a.y, b.x, fmaf(a.x, b.y, c.y))};
}

CT_INLINE cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
    return cuDoubleComplex{real, imaginary};
}
CT_INLINE double cuCreal(cuDoubleComplex a) { return a.x; }
CT_INLINE double cuCimag(cuDoubleComplex a) { return a.y; }
CT_INLINE cuDoubleComplex cuConj(cuDoubleComplex a) { return cuDoubleComplex{a.x, -a.y}; }
CT_INLINE cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) { return cuDoubleComplex{a.x + b.x, a.y + b.y}; }
CT_INLINE cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) { return cuDoubleComplex{a.x - b.x, a.y - b.y}; }
CT_INLINE cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b) {
    return cuDoubleComplex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
// Scaled, so that no square overflows or underflows.
CT_INLINE cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b) {
    const double scale = 1 / (fabs(b.x) + fabs(b.y));
    const double ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;
    const double factor = 1 / (bx * bx + by * by);
    return cuDoubleComplex{(ax * bx + ay * by) * factor, (ay * bx - ax * by) * factor};
}
CT_INLINE double cuCabs(cuDoubleComplex a) { return hypot(a.x, a.y); }
// a * b + c.
CT_INLINE cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c) {
    return cuDoubleComplex{fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y))};
}

CT_INLINE cuComplex make_cuComplex(float real, float imaginary) { return cuComplex{real, imaginary}; }
CT_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
CT_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return cuFloatComplex{float(a.x), float(a.y)}; }
