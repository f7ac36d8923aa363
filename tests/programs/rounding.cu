// Arithmetic and conversions in each rounding mode, against integer arithmetic on 128 bits.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "check.cuh"

enum rounding { kNearest, kToZero, kUpward, kDownward, kModes };
constexpr int kThreads = 256, kInputs = 1 << 14;

template <class T>
struct operands {
    T a, b, c;
};

// ---- Kernels: results in the order of kOperations, each in four modes ----------------------------------------------

constexpr int kOperations = 7;
const char* const kOperationNames[kOperations] = {"a + b", "a - b", "a * b", "a / b", "1 / a", "sqrt(a)", "a * b + c"};

#define FOUR(name, ...)              \
    *out++ = name##_rn(__VA_ARGS__); \
    *out++ = name##_rz(__VA_ARGS__); \
    *out++ = name##_ru(__VA_ARGS__); \
    *out++ = name##_rd(__VA_ARGS__);

__global__ void float_arithmetic(const operands<float>* inputs, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float a = inputs[i].a, b = inputs[i].b, c = inputs[i].c;
    out += (size_t)i * kOperations * kModes;
    FOUR(__fadd, a, b)
    FOUR(__fsub, a, b)
    FOUR(__fmul, a, b)
    FOUR(__fdiv, a, b)
    FOUR(__frcp, a)
    FOUR(__fsqrt, a)
    FOUR(__fmaf, a, b, c)
}
__global__ void double_arithmetic(const operands<double>* inputs, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double a = inputs[i].a, b = inputs[i].b, c = inputs[i].c;
    out += (size_t)i * kOperations * kModes;
    FOUR(__dadd, a, b)
    FOUR(__dsub, a, b)
    FOUR(__dmul, a, b)
    FOUR(__ddiv, a, b)
    FOUR(__drcp, a)
    FOUR(__dsqrt, a)
    FOUR(__fma, a, b, c)
}

struct conversion_input {
    float f;
    double d;
    int64_t i;
};
// To int, unsigned, long long and unsigned long long from float, then from double.
constexpr int kToIntegers = 8;
// From int, unsigned, long long and unsigned long long to float, and from double to float.
constexpr int kToFloats = 5;
// From long long and unsigned long long to double.
constexpr int kToDoubles = 2;

__global__ void to_integers(const conversion_input* inputs, uint64_t* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float f = inputs[i].f;
    const double d = inputs[i].d;
    out += (size_t)i * kToIntegers * kModes;
    FOUR(__float2int, f)
    FOUR(__float2uint, f)
    FOUR(__float2ll, f)
    FOUR(__float2ull, f)
    FOUR(__double2int, d)
    FOUR(__double2uint, d)
    FOUR(__double2ll, d)
    FOUR(__double2ull, d)
}
__global__ void to_floats(const conversion_input* inputs, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t integer = inputs[i].i;
    out += (size_t)i * kToFloats * kModes;
    FOUR(__int2float, (int)integer)
    FOUR(__uint2float, (unsigned)integer)
    FOUR(__ll2float, (long long)integer)
    FOUR(__ull2float, (unsigned long long)integer)
    FOUR(__double2float, inputs[i].d)
}
__global__ void to_doubles(const conversion_input* inputs, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t integer = inputs[i].i;
    out += (size_t)i * kToDoubles * kModes;
    FOUR(__ll2double, (long long)integer)
    FOUR(__ull2double, (unsigned long long)integer)
}
// Bit casts, each of which has one answer.
constexpr int kCasts = 10;
__global__ void casts(const conversion_input* inputs, uint64_t* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const conversion_input in = inputs[i];
    out += (size_t)i * kCasts;
    out[0] = (uint32_t)__float_as_int(in.f);
    out[1] = __float_as_uint(in.f);
    out[2] = (uint64_t)__double_as_longlong(in.d);
    out[3] = (uint32_t)__double2hiint(in.d);
    out[4] = (uint32_t)__double2loint(in.d);
    out[5] = __float_as_uint(__int_as_float((int)in.i));
    out[6] = __float_as_uint(__uint_as_float((unsigned)in.i));
    out[7] = (uint64_t)__double_as_longlong(__longlong_as_double(in.i));
    out[8] = (uint64_t)__double_as_longlong(__hiloint2double((int)(in.i >> 32), (int)in.i));
    out[9] = (uint64_t)__double_as_longlong(__int2double_rn((int)in.i) + __uint2double_rn((unsigned)in.i));
}

// ---- The reference -------------------------------------------------------------------------------------------------

typedef unsigned __int128 wide;

// (-1)^negative * (size + something below 1, where `more`) * 2^exponent.
struct exact {
    bool negative;
    wide size;
    int exponent;
    bool more;
};

int length_of(wide value) {
    int length = 0;
    for (; value != 0; value >>= 1) ++length;
    return length;
}

template <class T>
exact exact_of(T value) {
    constexpr int digits = std::numeric_limits<T>::digits;
    int exponent = 0;
    const T fraction = std::frexp(std::fabs(value), &exponent);
    return {std::signbit(value), (wide)std::ldexp(fraction, digits), exponent - digits, false};
}
exact product(exact x, exact y) { return {x.negative != y.negative, x.size * y.size, x.exponent + y.exponent, false}; }
exact quotient(exact x, exact y) {
    const wide dividend = x.size << 70;
    return {x.negative != y.negative, dividend / y.size, x.exponent - 70 - y.exponent, dividend % y.size != 0};
}
exact root(exact x) {
    int shift = 124 - length_of(x.size);
    if ((x.exponent - shift) % 2 != 0) ++shift;
    const wide square = x.size << shift;
    wide result = 0;
    for (int bit = 62; bit >= 0; --bit) {
        const wide larger = result | (wide)1 << bit;
        if (larger * larger <= square) result = larger;
    }
    return {false, result, (x.exponent - shift) / 2, result * result != square};
}
// Of numbers other than 0. The larger one is moved up as far as it goes, so the smaller one loses only what counts as
// `more`.
exact sum(exact x, exact y) {
    if (length_of(x.size) + x.exponent < length_of(y.size) + y.exponent) std::swap(x, y);
    const int up = 126 - length_of(x.size);
    const wide large = x.size << up;
    const int exponent = x.exponent - up, down = exponent - y.exponent;
    const wide small = down >= 128 ? 0 : down >= 0 ? y.size >> down : y.size << -down;
    const bool more = down >= 128 || (down > 0 && small << down != y.size);
    if (x.negative == y.negative) return {x.negative, large + small, exponent, more};
    if (small > large) return {y.negative, small - large, exponent, more};
    return {x.negative, large - small - more, exponent, more};
}

template <class T>
T rounded(exact value, rounding mode) {
    using limits = std::numeric_limits<T>;
    const int length = length_of(value.size);
    int drop = length - limits::digits;
    if (value.exponent + drop < limits::min_exponent - limits::digits)
        drop = limits::min_exponent - limits::digits - value.exponent;
    wide kept = value.size;
    if (drop > 0) {
        kept = drop >= 128 ? 0 : value.size >> drop;
        const wide rest = drop >= 128 ? value.size : value.size - (kept << drop);
        const wide half = drop >= 128 ? ~(wide)0 : (wide)1 << (drop - 1);
        const bool inexact = rest != 0 || value.more;
        bool up = inexact && mode == (value.negative ? kDownward : kUpward);
        if (mode == kNearest) up = rest > half || (rest == half && (value.more || (kept & 1)));
        kept += up;
    } else {
        drop = 0;
    }
    const double size = std::ldexp((double)kept, value.exponent + drop);
    if (size > (double)limits::max()) {
        const bool away = mode == kNearest || mode == (value.negative ? kDownward : kUpward);
        const T largest = away ? limits::infinity() : limits::max();
        return value.negative ? -largest : largest;
    }
    return (T)(value.negative ? -size : size);
}

// What IEEE 754 says of a sum of 0: +0, but -0 downward, unless both terms have the same sign.
template <class T>
T rounded_sum(T x_for_sign, exact x, T y_for_sign, exact y, rounding mode) {
    if (x.size == 0 && y.size == 0) {
        if (std::signbit(x_for_sign) == std::signbit(y_for_sign)) return std::signbit(x_for_sign) ? T(-0.0) : T(0);
        return mode == kDownward ? T(-0.0) : T(0);
    }
    if (x.size == 0) return rounded<T>(y, mode);
    if (y.size == 0) return rounded<T>(x, mode);
    const exact total = sum(x, y);
    if (total.size == 0 && !total.more) return mode == kDownward ? T(-0.0) : T(0);
    return rounded<T>(total, mode);
}

template <class T>
void expected_of(operands<T> in, rounding mode, T* expected) {
    const T a = in.a, b = in.b, c = in.c;
    const exact x = exact_of(std::isfinite(a) ? a : T(1)), y = exact_of(std::isfinite(b) ? b : T(1));
    const exact z = exact_of(std::isfinite(c) ? c : T(1));
    const bool finite = std::isfinite(a) && std::isfinite(b), zero = a == 0 || b == 0;
    expected[0] = finite ? rounded_sum(a, x, b, y, mode) : a + b;
    exact minus_y = y;
    minus_y.negative = !y.negative;
    expected[1] = finite ? rounded_sum(a, x, -b, minus_y, mode) : a - b;
    expected[2] = finite && !zero ? rounded<T>(product(x, y), mode) : a * b;
    expected[3] = finite && !zero ? rounded<T>(quotient(x, y), mode) : a / b;
    expected[4] = std::isfinite(a) && a != 0 ? rounded<T>(quotient(exact_of(T(1)), x), mode) : 1 / a;
    expected[5] = std::isfinite(a) && a > 0 ? rounded<T>(root(x), mode) : std::sqrt(a);
    const T signed_zero = std::signbit(a) != std::signbit(b) ? T(-0.0) : T(0);
    expected[6] = finite && std::isfinite(c) ? rounded_sum(signed_zero, product(x, y), c, z, mode) : std::fma(a, b, c);
}

template <class T>
bool same(T a, T b) {
    return a != a || b != b ? a != a && b != b : std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
T random_number(numbers& random) {
    using limits = std::numeric_limits<T>;
    const T special[] = {
        T(0),  T(-0.0),       limits::infinity(), -limits::infinity(), limits::quiet_NaN(),  T(1),
        T(-1), limits::max(), limits::lowest(),   limits::min(),       limits::denorm_min(), -limits::denorm_min()};
    const uint64_t kind = random.next() % 16;
    if (kind == 0) return special[random.next() % 12];
    const T sign = random.next() & 1 ? T(-1) : T(1);
    const int digits = 1 + (int)(random.next() % limits::digits);
    const T mantissa = (T)(random.next() >> (64 - digits));
    // Over the whole range, or near 1 so that sums round.
    const int range = kind < 8 ? limits::max_exponent + limits::digits : 30;
    return sign * std::ldexp(mantissa, (int)(random.next() % (2 * range)) - range - digits);
}

template <class T>
void check_arithmetic(const char* type, void (*kernel)(const operands<T>*, T*)) {
    std::vector<operands<T>> inputs(kInputs);
    numbers random;
    for (operands<T>& in : inputs) {
        in = {random_number<T>(random), random_number<T>(random), random_number<T>(random)};
        const uint64_t kind = random.next() % 8;
        if (kind == 0) in.b = -std::nextafter(in.a, T(0));  // sums that cancel
        if (kind <= 2) in.c = -(in.a * in.b);
    }
    device_array<operands<T>> in(inputs);
    device_array<T> out((size_t)kInputs * kOperations * kModes);
    kernel<<<kInputs / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<T> got = out.values();
    for (int i = 0; i < kInputs; ++i) {
        for (int mode = 0; mode < kModes; ++mode) {
            T expected[kOperations];
            expected_of(inputs[i], (rounding)mode, expected);
            for (int f = 0; f < kOperations; ++f) {
                const T value = got[((size_t)i * kOperations + f) * kModes + mode];
                if (same(value, expected[f])) continue;
                std::printf("%s %s in mode %d, a = %a, b = %a, c = %a: %a, expected %a\n", type, kOperationNames[f],
                            mode, (double)inputs[i].a, (double)inputs[i].b, (double)inputs[i].c, (double)value,
                            (double)expected[f]);
                std::exit(1);
            }
        }
    }
}

template <class Integer>
uint64_t integer_of(double value, rounding mode, Integer nan) {
    if (value != value) return (uint64_t)nan;
    const double whole = mode == kNearest  ? std::nearbyint(value)
                         : mode == kToZero ? std::trunc(value)
                         : mode == kUpward ? std::ceil(value)
                                           : std::floor(value);
    using limits = std::numeric_limits<Integer>;
    if (whole <= (double)limits::min()) return (uint64_t)limits::min();
    if (whole >= (double)limits::max()) return (uint64_t)limits::max();
    return (uint64_t)(Integer)whole;
}
exact exact_integer(__int128 value) { return {value < 0, (wide)(value < 0 ? -value : value), 0, false}; }

template <class T>
uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

void check_conversions() {
    std::vector<conversion_input> inputs(kInputs);
    numbers random;
    for (conversion_input& in : inputs) {
        in = {random_number<float>(random), random_number<double>(random),
              (int64_t)random.next() >> random.next() % 64};
        // Halves, and what is beside them.
        if (random.next() % 4 == 0) in.f = (float)(int)(random.next() % 4001 - 2000) / 2;
        if (random.next() % 4 == 0) in.d = std::nextafter(in.f, random.next() & 1 ? 1e30 : -1e30);
        if (random.next() % 4 == 0) in.d = in.f;
        if (random.next() % 8 == 0) in.d = std::ldexp((double)(random.next() >> 11), -(int)(random.next() % 64)) - 4e9;
    }
    inputs[0].i = std::numeric_limits<int64_t>::min();
    device_array<conversion_input> in(inputs);
    device_array<uint64_t> integers((size_t)kInputs * kToIntegers * kModes), cast((size_t)kInputs * kCasts);
    device_array<float> floats((size_t)kInputs * kToFloats * kModes);
    device_array<double> doubles((size_t)kInputs * kToDoubles * kModes);
    to_integers<<<kInputs / kThreads, kThreads>>>(in.data(), integers.data());
    to_floats<<<kInputs / kThreads, kThreads>>>(in.data(), floats.data());
    to_doubles<<<kInputs / kThreads, kThreads>>>(in.data(), doubles.data());
    casts<<<kInputs / kThreads, kThreads>>>(in.data(), cast.data());
    const std::vector<uint64_t> got_integers = integers.values(), got_casts = cast.values();
    const std::vector<float> got_floats = floats.values();
    const std::vector<double> got_doubles = doubles.values();

    const long long highest = std::numeric_limits<long long>::min();
    for (int i = 0; i < kInputs; ++i) {
        const float f = inputs[i].f;
        const double d = inputs[i].d;
        const int64_t n = inputs[i].i;
        for (int k = 0; k < kModes; ++k) {
            const rounding mode = (rounding)k;
            const uint64_t to_integer[kToIntegers] = {
                integer_of<int>(f, mode, 0),
                integer_of<unsigned>(f, mode, 0),
                integer_of<long long>(f, mode, highest),
                integer_of<unsigned long long>(f, mode, (unsigned long long)highest),
                integer_of<int>(d, mode, (int)0x80000000),
                integer_of<unsigned>(d, mode, 0x80000000u),
                integer_of<long long>(d, mode, highest),
                integer_of<unsigned long long>(d, mode, (unsigned long long)highest)};
            for (int t = 0; t < kToIntegers; ++t) {
                const uint64_t value = got_integers[((size_t)i * kToIntegers + t) * kModes + k];
                if (value != to_integer[t]) {
                    std::printf("conversion %d to an integer in mode %d, of %a or %a: %lld, expected %lld\n", t, k, f,
                                d, (long long)value, (long long)to_integer[t]);
                    std::exit(1);
                }
            }
            const float of_double = std::isfinite(d) && d != 0 ? rounded<float>(exact_of(d), mode) : (float)d;
            const float to_float[kToFloats] = {
                rounded<float>(exact_integer((int)n), mode), rounded<float>(exact_integer((unsigned)n), mode),
                rounded<float>(exact_integer(n), mode), rounded<float>(exact_integer((uint64_t)n), mode), of_double};
            for (int t = 0; t < kToFloats; ++t) {
                const float value = got_floats[((size_t)i * kToFloats + t) * kModes + k];
                if (!same(value, to_float[t]))
                    wrong("conversion to float", t == 4 ? bits_of(d) : (uint64_t)n, value, to_float[t]);
            }
            const double to_double[kToDoubles] = {rounded<double>(exact_integer(n), mode),
                                                  rounded<double>(exact_integer((uint64_t)n), mode)};
            for (int t = 0; t < kToDoubles; ++t) {
                const double value = got_doubles[((size_t)i * kToDoubles + t) * kModes + k];
                if (!same(value, to_double[t])) wrong("conversion to double", (uint64_t)n, value, to_double[t]);
            }
        }
        const uint64_t expected[kCasts] = {
            bits_of(f),  bits_of(f),  bits_of(d),  bits_of(d) >> 32, bits_of(d) & 0xffffffff,
            (uint32_t)n, (uint32_t)n, (uint64_t)n, (uint64_t)n,      bits_of((double)(int)n + (double)(unsigned)n)};
        for (int t = 0; t < kCasts; ++t) {
            const uint64_t value = got_casts[(size_t)i * kCasts + t];
            if (value != expected[t]) wrong("a bit cast", (uint64_t)t, (double)value, (double)expected[t]);
        }
    }
}

int main() {
    check_arithmetic<float>("float", float_arithmetic);
    check_arithmetic<double>("double", double_arithmetic);
    check_conversions();
    std::printf("ok\n");
    return 0;
}
