// Every pattern of a 16-bit float through every function, against a reference computed in long double on the host.
//
// half.cu and bfloat16.cu each define NUMBER, PAIR, NAME(before, after), NAME_TWICE(before, between, after), kMantissa
// and kExponent, and include this file.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "check.cuh"

typedef unsigned short bits16;
typedef unsigned long long word64;
enum rounding { kNearest, kToZero, kUpward, kDownward, kModes };

constexpr int kPatterns = 1 << 16, kBias = (1 << (kExponent - 1)) - 1;
constexpr int kInfinity = ((1 << kExponent) - 1) << kMantissa;
constexpr int kThreads = 256;

// ---- The reference -------------------------------------------------------------------------------------------------

bool is_nan(int bits) { return (bits & 0x7fff) > kInfinity; }

// The magnitude of a pattern. Infinity's is the power of two that its bits would mean, for rounding to it.
double magnitude_of(int bits) {
    const int field = (bits & 0x7fff) >> kMantissa, mantissa = bits & ((1 << kMantissa) - 1);
    return field == 0 ? std::ldexp(mantissa, 1 - kBias - kMantissa)
                      : std::ldexp(mantissa + (1 << kMantissa), field - kBias - kMantissa);
}
double value_of(int bits) {
    if (is_nan(bits)) return std::numeric_limits<double>::quiet_NaN();
    const double size = (bits & 0x7fff) == kInfinity ? std::numeric_limits<double>::infinity() : magnitude_of(bits);
    return bits & 0x8000 ? -size : size;
}

// The pattern of value + rest, where rest is too small to be seen in the sum. Found among all, not computed.
int pattern_of(long double value, long double rest, rounding mode) {
    if (value != value) return 0x7fff;
    const bool negative = std::signbit(value);
    const int sign = negative ? 0x8000 : 0;
    if (std::isinf(value)) return sign | kInfinity;
    const long double size = std::fabs(value), more = negative ? -rest : rest;
    int low = 0, end = kInfinity;  // the largest pattern below infinity that is not above the value
    while (end - low > 1) {
        const int middle = (low + end) / 2;
        const long double candidate = magnitude_of(middle);
        (candidate < size || (candidate == size && more >= 0) ? low : end) = middle;
    }
    if (magnitude_of(low) == size && more == 0) return sign | low;
    bool up = mode == (negative ? kDownward : kUpward);
    if (mode == kNearest) {
        const long double middle = ((long double)magnitude_of(low) + magnitude_of(low + 1)) / 2;
        up = size > middle || (size == middle && (more > 0 || (more == 0 && (low & 1))));
    }
    return sign | (low + up);
}
int pattern_of(long double value, rounding mode = kNearest) { return pattern_of(value, 0, mode); }

long double rounded_to_integer(long double value, rounding mode) {
    if (mode == kUpward) return std::ceil(value);
    if (mode == kDownward) return std::floor(value);
    if (mode == kToZero) return std::trunc(value);
    return std::nearbyint(value);
}

// How many numbers lie between two patterns; equal NaNs are 0 apart.
int apart(int a, int b) {
    if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b) ? 0 : kPatterns;
    const int x = a & 0x8000 ? -(a & 0x7fff) : a, y = b & 0x8000 ? -(b & 0x7fff) : b;
    return std::abs(x - y);
}
// A tolerance of 0 also asks for the sign of 0.
bool near(int got, int expected, int tolerance) {
    if (tolerance > 0) return apart(got, expected) <= tolerance;
    return got == expected || (is_nan(got) && is_nan(expected));
}
void expect(const char* what, unsigned long long input, int got, int expected, int tolerance = 0) {
    if (!near(got, expected, tolerance)) wrong(what, input, value_of(got), value_of(expected));
}

// The hardware's approximations for bfloat16 work in float, and take numbers below 2^-126 as 0.
bool flushed(double value) { return kExponent == 8 && std::fabs(value) < 0x1p-126; }

// ---- Kernels: thread i writes result f to out[f * threads + i] -----------------------------------------------------

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int all_threads() { return gridDim.x * blockDim.x; }
__device__ bits16 bits_of(NUMBER a) { return NAME(__, _as_ushort)(a); }
__device__ NUMBER number_of(int bits) { return NAME(__ushort_as_, )((bits16)bits); }
__device__ unsigned bits_of(PAIR a) { return bits_of(a.x) | (unsigned)bits_of(a.y) << 16; }

constexpr int kUnary = 18;
const char* const kUnaryNames[kUnary] = {"back from float", "__hneg", "__habs", "hsqrt", "hrsqrt", "hrcp", "hexp",
                                         "hexp2",           "hexp10", "hlog",   "hlog2", "hlog10", "hsin", "hcos",
                                         "hceil",           "hfloor", "htrunc", "hrint"};
__global__ void unary(bits16* out, float* values, bits16* pairs, int* facts) {
    const int i = place(), n = all_threads();
    const NUMBER a = number_of(i);
    values[i] = NAME(__, 2float)(a);
    const NUMBER results[kUnary] = {NAME(__float2, _rn)(values[i]),
                                    __hneg(a),
                                    __habs(a),
                                    hsqrt(a),
                                    hrsqrt(a),
                                    hrcp(a),
                                    hexp(a),
                                    hexp2(a),
                                    hexp10(a),
                                    hlog(a),
                                    hlog2(a),
                                    hlog10(a),
                                    hsin(a),
                                    hcos(a),
                                    hceil(a),
                                    hfloor(a),
                                    htrunc(a),
                                    hrint(a)};
    for (int f = 0; f < kUnary; ++f) out[f * n + i] = bits_of(results[f]);
    // The same of pairs, where the high half is the number and the low half is 1.
    const PAIR p = NAME(__halves2, 2)(NAME(__float2, _rn)(1.0f), a);
    const PAIR of_pairs[kUnary] = {p,        __hneg2(p), __habs2(p), h2sqrt(p),  h2rsqrt(p), h2rcp(p),
                                   h2exp(p), h2exp2(p),  h2exp10(p), h2log(p),   h2log2(p),  h2log10(p),
                                   h2sin(p), h2cos(p),   h2ceil(p),  h2floor(p), h2trunc(p), h2rint(p)};
    for (int f = 0; f < kUnary; ++f) pairs[f * n + i] = bits_of(NAME(__high2, )(of_pairs[f]));
    facts[i] = __hisnan(a) | (__hisinf(a) + 1) << 1;
}

constexpr int kBinary = 14;
const char* const kBinaryNames[kBinary] = {"+",          "-",          "*",          "/",          "__hfma",
                                           "__hmax",     "__hmin",     "__hmax_nan", "__hmin_nan", "__hadd_sat",
                                           "__hsub_sat", "__hmul_sat", "__hfma_sat", "__hfma_relu"};
__global__ void binary(const bits16* inputs, bits16* out, unsigned* pairs, unsigned* relations) {
    const int i = place(), n = all_threads();
    const NUMBER a = number_of(inputs[i]), b = number_of(inputs[n + i]), c = number_of(inputs[2 * n + i]);
    const NUMBER results[kBinary] = {a + b,
                                     a - b,
                                     a * b,
                                     a / b,
                                     __hfma(a, b, c),
                                     __hmax(a, b),
                                     __hmin(a, b),
                                     __hmax_nan(a, b),
                                     __hmin_nan(a, b),
                                     __hadd_sat(a, b),
                                     __hsub_sat(a, b),
                                     __hmul_sat(a, b),
                                     __hfma_sat(a, b, c),
                                     __hfma_relu(a, b, c)};
    for (int f = 0; f < kBinary; ++f) out[f * n + i] = bits_of(results[f]);
    const PAIR x = NAME(make_, 2)(a, c), y = NAME_TWICE(__, 2, 2)(b), z = NAME(make_, 2)(c, a);
    const PAIR of_pairs[kBinary] = {x + y,
                                    x - y,
                                    x * y,
                                    x / y,
                                    __hfma2(x, y, z),
                                    __hmax2(x, y),
                                    __hmin2(x, y),
                                    __hmax2_nan(x, y),
                                    __hmin2_nan(x, y),
                                    __hadd2_sat(x, y),
                                    __hsub2_sat(x, y),
                                    __hmul2_sat(x, y),
                                    __hfma2_sat(x, y, z),
                                    __hfma2_relu(x, y, z)};
    for (int f = 0; f < kBinary; ++f) pairs[f * n + i] = bits_of(of_pairs[f]);
    // Six ordered relations, six unordered ones, and six operators.
    unsigned found =
        __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 | __hge(a, b) << 5;
    found |= (unsigned)(__hequ(a, b) | __hneu(a, b) << 1 | __hltu(a, b) << 2 | __hleu(a, b) << 3 | __hgtu(a, b) << 4 |
                        __hgeu(a, b) << 5)
             << 6;
    found |= (unsigned)((a == b) | (a != b) << 1 | (a < b) << 2 | (a <= b) << 3 | (a > b) << 4 | (a >= b) << 5) << 12;
    relations[i] = found;
    // Pairs: each half, as 1 or 0 and as a mask, and both halves at once.
    relations[n + i] = (bits_of(__hlt2(x, y)) & 1u << (kMantissa)) >> kMantissa |
                       (bits_of(__hgtu2(x, y)) >> 16 & 1u << kMantissa) >> kMantissa << 1 | __hbeq2(x, y) << 2 |
                       __hbneu2(x, y) << 3;
    relations[2 * n + i] = __hge2_mask(x, y);
}

__global__ void from_floats(const float* inputs, bits16* out) {
    const int i = place(), n = all_threads();
    const float a = inputs[i];
    out[i] = bits_of(NAME(__float2, _rn)(a));
    out[n + i] = bits_of(NAME(__float2, _rz)(a));
    out[2 * n + i] = bits_of(NAME(__float2, _ru)(a));
    out[3 * n + i] = bits_of(NAME(__float2, _rd)(a));
    out[4 * n + i] = bits_of(NAME(__double2, )((double)a * (1 + 0x1p-40)));
    const PAIR p = NAME(__floats2, 2_rn)(a, -a);
    out[5 * n + i] = bits_of(p.x);
    out[6 * n + i] = bits_of(p.y);
}

// One integer type: to and from it in the four modes.
#define INTEGER_KERNELS(name, type)                                  \
    __global__ void to_##name(type* out) {                           \
        const int i = place(), n = all_threads();                    \
        const NUMBER a = number_of(i);                               \
        out[i] = NAME(__, 2##name##_rn)(a);                          \
        out[n + i] = NAME(__, 2##name##_rz)(a);                      \
        out[2 * n + i] = NAME(__, 2##name##_ru)(a);                  \
        out[3 * n + i] = NAME(__, 2##name##_rd)(a);                  \
    }                                                                \
    __global__ void from_##name(const type* inputs, bits16* out) {   \
        const int i = place(), n = all_threads();                    \
        out[i] = bits_of(NAME(__##name##2, _rn)(inputs[i]));         \
        out[n + i] = bits_of(NAME(__##name##2, _rz)(inputs[i]));     \
        out[2 * n + i] = bits_of(NAME(__##name##2, _ru)(inputs[i])); \
        out[3 * n + i] = bits_of(NAME(__##name##2, _rd)(inputs[i])); \
    }
INTEGER_KERNELS(short, short)
INTEGER_KERNELS(ushort, unsigned short)
INTEGER_KERNELS(int, int)
INTEGER_KERNELS(uint, unsigned)
INTEGER_KERNELS(ll, long long)
INTEGER_KERNELS(ull, word64)

// ---- Checks --------------------------------------------------------------------------------------------------------

void check_unary() {
    device_array<bits16> out(kUnary * kPatterns), pairs(kUnary * kPatterns);
    device_array<float> values(kPatterns);
    device_array<int> facts(kPatterns);
    unary<<<kPatterns / kThreads, kThreads>>>(out.data(), values.data(), pairs.data(), facts.data());
    const std::vector<bits16> got = out.values(), got_pairs = pairs.values();
    const std::vector<float> got_values = values.values();
    const std::vector<int> got_facts = facts.values();
    for (int i = 0; i < kPatterns; ++i) {
        const double a = value_of(i);
        if (a != a ? got_values[i] == got_values[i]
                   : got_values[i] != a || std::signbit(got_values[i]) != std::signbit(a))
            wrong("to float", i, got_values[i], a);
        const int fact = (a != a) | ((std::isinf(a) ? (a < 0 ? -1 : 1) : 0) + 1) << 1;
        if (got_facts[i] != fact) wrong("__hisnan and __hisinf", i, got_facts[i], fact);
        const double expected[kUnary] = {
            a,           -a,           std::fabs(a),      std::sqrt(a),  1 / std::sqrt(a), 1 / a,
            std::exp(a), std::exp2(a), std::pow(10.0, a), std::log(a),   std::log2(a),     std::log10(a),
            std::sin(a), std::cos(a),  std::ceil(a),      std::floor(a), std::trunc(a),    std::nearbyint(a)};
        for (int f = 0; f < kUnary; ++f) {
            const int at = f * kPatterns + i;
            // Roots and reciprocals are correctly rounded in nearly all cases, exponentials and logarithms to 2 ulp.
            const int tolerance = f < 3 || f >= 14 ? 0 : f < 6 ? 1 : 2;
            const bool wave = f == 12 || f == 13, approximate = tolerance > 0;
            if (wave && !(std::fabs(a) < 100)) continue;  // the hardware's approximation is for small arguments
            if (approximate && (flushed(a) || flushed(expected[f]))) continue;
            const double error = std::fabs(value_of(got[at]) - expected[f]);
            if (!wave || !(error < std::ldexp(2.0, -kMantissa)))
                expect(kUnaryNames[f], i, got[at], pattern_of(expected[f]), tolerance);
            if (apart(got_pairs[at], got[at]) > (tolerance == 0 ? 0 : 1))
                wrong(kUnaryNames[f], i, value_of(got_pairs[at]), value_of(got[at]));
        }
    }
}

// The larger where `larger`, else the smaller; -0 is less than +0.
int extreme(int a, int b, bool larger, bool keep_nan) {
    if (is_nan(a) || is_nan(b)) return keep_nan ? 0x7fff : is_nan(a) ? b : a;
    const double x = value_of(a), y = value_of(b);
    const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return less == larger ? b : a;
}
int saturated(int bits) {
    const double value = value_of(bits);
    return value >= 1 ? pattern_of(1) : value > 0 ? bits : 0;
}
unsigned relations_of(double a, double b) {
    return (unsigned)(a == b) | (unsigned)(a < b || a > b) << 1 | (unsigned)(a < b) << 2 | (unsigned)(a <= b) << 3 |
           (unsigned)(a > b) << 4 | (unsigned)(a >= b) << 5;
}

void check_binary() {
    // The second operand is sometimes near the first one, and the third near minus their product: sums then cancel.
    const int n = kPatterns;
    std::vector<bits16> inputs(3 * n);
    numbers random;
    const bits16 special[] = {0, 0x8000, (bits16)kInfinity,       (bits16)(kInfinity | 0x8000), 0x7fff, 0xffff,
                              1, 0x8001, (bits16)(kInfinity - 1), (bits16)(kBias << kMantissa)};
    for (int i = 0; i < n; ++i) {
        const int a = (bits16)(i * 40503u);
        int b = (int)(random.next() & 0xffff), c = (int)(random.next() & 0xffff);
        if (i % 8 == 1) b = (a ^ 0x8000) + (int)(random.next() % 3);
        if (i % 8 == 2) b = special[random.next() % 10];
        if (i % 16 == 3) c = special[random.next() % 10];
        if (i % 2 == 0) c = pattern_of(-(long double)value_of(a) * value_of(b & 0xffff));
        inputs[i] = (bits16)a, inputs[n + i] = (bits16)b, inputs[2 * n + i] = (bits16)c;
    }
    device_array<bits16> in(inputs), out(kBinary * n);
    device_array<unsigned> pairs(kBinary * n), relations(3 * n);
    binary<<<n / kThreads, kThreads>>>(in.data(), out.data(), pairs.data(), relations.data());
    const std::vector<bits16> got = out.values();
    const std::vector<unsigned> got_pairs = pairs.values(), got_relations = relations.values();

    const auto results_of = [](int x, int y, int z, int* expected) {
        const long double a = value_of(x), b = value_of(y), c = value_of(z);
        const long double product = a * b, sum = product + c, added = sum - product;
        const long double rest = std::isfinite(sum) ? (product - (sum - added)) + (c - added) : 0;
        expected[0] = pattern_of(a + b);
        expected[1] = pattern_of(a - b);
        expected[2] = pattern_of(product);
        expected[3] = pattern_of(a / b);
        expected[4] = pattern_of(sum, rest, kNearest);
        expected[5] = extreme(x, y, true, false);
        expected[6] = extreme(x, y, false, false);
        expected[7] = extreme(x, y, true, true);
        expected[8] = extreme(x, y, false, true);
        expected[9] = saturated(expected[0]);
        expected[10] = saturated(expected[1]);
        expected[11] = saturated(expected[2]);
        expected[12] = saturated(expected[4]);
        expected[13] = is_nan(expected[4]) || value_of(expected[4]) > 0 ? expected[4] : 0;
    };
    for (int i = 0; i < n; ++i) {
        const int x = inputs[i], y = inputs[n + i], z = inputs[2 * n + i];
        const word64 input = (word64)x << 32 | (word64)y << 16 | (word64)z;
        int expected[kBinary], expected_high[kBinary];
        results_of(x, y, z, expected);
        results_of(z, y, x, expected_high);
        const double a = value_of(x), b = value_of(y), c = value_of(z);
        for (int f = 0; f < kBinary; ++f) {
            if (f == 3 &&
                (flushed(a) || flushed(b) || flushed(c) || flushed(a / b) || flushed(c / b) || flushed(1 / b)))
                continue;
            // A quotient may be one number off. Of what is cut to a range, the sign of 0 is not documented.
            const int got_both = (int)got_pairs[f * n + i], tolerance = f == 3 ? 1 : 0;
            int got_low = got[f * n + i];
            int got_first = got_both & 0xffff, got_second = got_both >> 16 & 0xffff;
            if (f >= 9) {
                for (int* bits : {&got_low, &got_first, &got_second, &expected[f], &expected_high[f]}) {
                    if (*bits == 0x8000) *bits = 0;
                }
            }
            expect(kBinaryNames[f], input, got_low, expected[f], tolerance);
            expect(kBinaryNames[f], input, got_first, expected[f], tolerance);
            expect(kBinaryNames[f], input, got_second, expected_high[f], tolerance);
        }
        const bool nan = a != a || b != b, high_nan = c != c || b != b;
        const unsigned ordered = relations_of(a, b), unordered = nan ? 63 : ordered, high = relations_of(c, b);
        // Of the operators only != is true of NaN.
        const unsigned all = ordered | unordered << 6 | (ordered | (nan ? 2u : 0u)) << 12;
        if (got_relations[i] != all) wrong("comparisons", input, got_relations[i], all);
        const unsigned of_pairs = (unsigned)(a < b) | (unsigned)(c > b || high_nan) << 1 |
                                  (unsigned)(ordered & high & 1) << 2 | (unsigned)(a != b && c != b) << 3;
        if (got_relations[n + i] != of_pairs) wrong("comparisons of pairs", input, got_relations[n + i], of_pairs);
        const unsigned mask = (a >= b ? 0xffffu : 0u) | (c >= b ? 0xffff0000u : 0u);
        if (got_relations[2 * n + i] != mask) wrong("__hge2_mask", input, got_relations[2 * n + i], mask);
    }
}

void check_from_floats() {
    // Each number, the middle to the next one, and the floats beside both; then some of all floats.
    std::vector<float> inputs;
    for (int i = 0; i < kPatterns; ++i) {
        if (is_nan(i)) continue;
        const float sign = i & 0x8000 ? -1.0f : 1.0f;
        const float value = (float)value_of(i);
        inputs.push_back(value);
        if ((i & 0x7fff) == kInfinity) continue;
        const float middle = sign * (float)((magnitude_of(i) + magnitude_of(i + 1)) / 2);
        for (float f : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, sign * INFINITY)})
            inputs.push_back(f);
    }
    numbers random;
    while (inputs.size() < 5 * kPatterns) {
        const unsigned bits = (unsigned)random.next();
        float f;
        std::memcpy(&f, &bits, 4);
        inputs.push_back(f);
    }
    const int n = (int)inputs.size();
    device_array<float> in(inputs);
    device_array<bits16> out(7 * n);
    from_floats<<<n / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<bits16> got = out.values();
    for (int i = 0; i < n; ++i) {
        unsigned bits;
        std::memcpy(&bits, &inputs[i], 4);
        const long double a = inputs[i];
        for (int mode = 0; mode < kModes; ++mode)
            expect("from float", bits, got[mode * n + i], pattern_of(a, (rounding)mode));
        expect("from double", bits, got[4 * n + i], pattern_of((double)inputs[i] * (1 + 0x1p-40)));
        expect("from two floats", bits, got[5 * n + i], pattern_of(a));
        expect("from two floats", bits, got[6 * n + i], pattern_of(-a));
    }
}

template <class Integer>
void check_integers(const char* what, void (*to)(Integer*), void (*from)(const Integer*, bits16*)) {
    const int n = kPatterns;
    const Integer least = std::numeric_limits<Integer>::min(), most = std::numeric_limits<Integer>::max();
    device_array<Integer> integers(kModes * n);
    to<<<n / kThreads, kThreads>>>(integers.data());
    const std::vector<Integer> got = integers.values();
    for (int i = 0; i < n; ++i) {
        for (int mode = 0; mode < kModes; ++mode) {
            const long double whole = rounded_to_integer(value_of(i), (rounding)mode);
            Integer expected = 0;
            if (whole != whole) {
                expected = sizeof(Integer) == 8 ? (Integer)(1ull << 63) : 0;
            } else {
                expected = whole <= least ? least : whole >= most ? most : (Integer)whole;
            }
            if (got[mode * n + i] != expected) wrong(what, i, (double)got[mode * n + i], (double)expected);
        }
    }

    std::vector<Integer> inputs(n);
    numbers random;
    for (int i = 0; i < n; ++i) {
        inputs[i] = (Integer)random.next() >> (random.next() % (8 * sizeof(Integer)));
        if (i < 4096) inputs[i] = (Integer)(i - 2048);
    }
    inputs[0] = least, inputs[1] = most;
    device_array<Integer> in(inputs);
    device_array<bits16> out(kModes * n);
    from<<<n / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<bits16> got_back = out.values();
    for (int i = 0; i < n; ++i) {
        for (int mode = 0; mode < kModes; ++mode)
            expect(what, (word64)inputs[i], got_back[mode * n + i], pattern_of(inputs[i], (rounding)mode));
    }
}

int main() {
    static_assert(sizeof(NUMBER) == 2 && sizeof(PAIR) == 4 && alignof(PAIR) == 4, "sizes");
    check_unary();
    check_binary();
    check_from_floats();
    check_integers<short>("short", to_short, from_short);
    check_integers<unsigned short>("unsigned short", to_ushort, from_ushort);
    check_integers<int>("int", to_int, from_int);
    check_integers<unsigned>("unsigned", to_uint, from_uint);
    check_integers<long long>("long long", to_ll, from_ll);
    check_integers<word64>("unsigned long long", to_ull, from_ull);
    std::printf("ok\n");
    return 0;
}
