// CUDA's mathematical functions against long double, within the error that CUDA documents for each.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "check.cuh"

constexpr int kThreads = 256, kInputs = 1 << 13;

template <class T>
struct arguments {
    T x;         // from -9 to 9
    T positive;  // over many powers of two
    T unit;      // from -1 to 1
    T y;         // from -9 to 9
};

// ---- Kernels: results in the order of the tables below -------------------------------------------------------------

constexpr int kFunctions = 41;

__global__ void of_floats(const arguments<float>* inputs, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = inputs[i].x, p = inputs[i].positive, u = inputs[i].unit, y = inputs[i].y;
    float* row = out + (size_t)i * kFunctions;
    int f = 0;
    row[f++] = sqrtf(p);
    row[f++] = rsqrtf(p);
    row[f++] = cbrtf(p);
    row[f++] = rcbrtf(p);
    row[f++] = hypotf(x, y);
    row[f++] = rhypotf(x, y);
    row[f++] = norm3df(x, y, u);
    row[f++] = rnorm3df(x, y, u);
    row[f++] = norm4df(x, y, u, 2.0f);
    row[f++] = expf(x);
    row[f++] = exp2f(x);
    row[f++] = exp10f(x);
    row[f++] = expm1f(x);
    row[f++] = logf(p);
    row[f++] = log2f(p);
    row[f++] = log10f(p);
    row[f++] = log1pf(p);
    row[f++] = sinf(x);
    row[f++] = cosf(x);
    row[f++] = tanf(x);
    row[f++] = sinpif(x);
    row[f++] = cospif(x);
    row[f++] = asinf(u);
    row[f++] = acosf(u);
    row[f++] = atanf(x);
    row[f++] = atan2f(x, y);
    row[f++] = sinhf(x);
    row[f++] = coshf(x);
    row[f++] = tanhf(x);
    row[f++] = asinhf(x);
    row[f++] = powf(p, u);
    row[f++] = erff(x);
    row[f++] = erfcf(x);
    row[f++] = erfinvf(u);
    row[f++] = erfcinvf(1 + u);
    row[f++] = erfcxf(x);
    row[f++] = normcdff(x);
    row[f++] = normcdfinvf(0.5f + 0.5f * u);
    row[f++] = fmodf(x, y);
    row[f++] = fmaf(x, y, u);
    float sine, cosine;
    sincospif(x, &sine, &cosine);
    row[f] = sine + 16 * cosine;
}
__global__ void of_doubles(const arguments<double>* inputs, double* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double x = inputs[i].x, p = inputs[i].positive, u = inputs[i].unit, y = inputs[i].y;
    double* row = out + (size_t)i * kFunctions;
    int f = 0;
    row[f++] = sqrt(p);
    row[f++] = rsqrt(p);
    row[f++] = cbrt(p);
    row[f++] = rcbrt(p);
    row[f++] = hypot(x, y);
    row[f++] = rhypot(x, y);
    row[f++] = norm3d(x, y, u);
    row[f++] = rnorm3d(x, y, u);
    row[f++] = norm4d(x, y, u, 2.0);
    row[f++] = exp(x);
    row[f++] = exp2(x);
    row[f++] = exp10(x);
    row[f++] = expm1(x);
    row[f++] = log(p);
    row[f++] = log2(p);
    row[f++] = log10(p);
    row[f++] = log1p(p);
    row[f++] = sin(x);
    row[f++] = cos(x);
    row[f++] = tan(x);
    row[f++] = sinpi(x);
    row[f++] = cospi(x);
    row[f++] = asin(u);
    row[f++] = acos(u);
    row[f++] = atan(x);
    row[f++] = atan2(x, y);
    row[f++] = sinh(x);
    row[f++] = cosh(x);
    row[f++] = tanh(x);
    row[f++] = asinh(x);
    row[f++] = pow(p, u);
    row[f++] = erf(x);
    row[f++] = erfc(x);
    row[f++] = erfinv(u);
    row[f++] = erfcinv(1 + u);
    row[f++] = erfcx(x);
    row[f++] = normcdf(x);
    row[f++] = normcdfinv(0.5 + 0.5 * u);
    row[f++] = fmod(x, y);
    row[f++] = fma(x, y, u);
    double sine, cosine;
    sincospi(x, &sine, &cosine);
    row[f] = sine + 16 * cosine;
}

// Fast approximations. Their documented errors are absolute for some, and relative for others.
constexpr int kFast = 14;
__global__ void fast(const arguments<float>* inputs, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = inputs[i].x, p = inputs[i].positive, u = inputs[i].unit, y = inputs[i].y;
    float* row = out + (size_t)i * kFast;
    row[0] = __fdividef(x, y);
    row[1] = __expf(x);
    row[2] = __exp10f(x);
    row[3] = __logf(p);
    row[4] = __log2f(p);
    row[5] = __log10f(p);
    row[6] = __powf(2 + u, y);
    row[7] = __sinf(3 * u);
    row[8] = __cosf(3 * u);
    row[9] = __tanf(u);
    float sine, cosine;
    __sincosf(3 * u, &sine, &cosine);
    row[10] = sine;
    row[11] = cosine;
    row[12] = __saturatef(x);
    row[13] = __frsqrt_rn(p);
}

// Cases with one right answer, each true where it holds.
constexpr int kFacts = 33;
__global__ void facts(const float* values, int* out, float* parts) {
    // The values come from memory, so that no compiler works the answers out.
    const float nan = values[0], infinity = values[1], zero = values[2], one = values[3], two = values[4];
    int f = 0;
    out[f++] = isnan(nan) && !isnan(one) && !isnan(infinity);
    out[f++] = isinf(infinity) && isinf(-infinity) && !isinf(nan);
    out[f++] = isfinite(one) && !isfinite(infinity) && !isfinite(nan);
    out[f++] = signbit(-zero) && !signbit(zero);
    out[f++] = fminf(nan, one) == one && fmaxf(one, nan) == one;
    out[f++] = min(nan, two) == two && max((double)one, (double)two) == 2.0;
    out[f++] = max(one, (double)two) == 2.0 && min((double)two, one) == 1.0;
    out[f++] = sinpif(two) == 0 && cospif(one) == -1 && cospif(two + 0.5f) == 0;
    out[f++] = isnan(sinpif(infinity)) && isnan(cospif(nan));
    out[f++] = rsqrtf(zero) == infinity && rsqrtf(infinity) == 0 && isnan(rsqrtf(-one));
    out[f++] = erfinvf(one) == infinity && erfinvf(-one) == -infinity && isnan(erfinvf(two));
    out[f++] = erfcinvf(zero) == infinity && erfcinvf(two) == -infinity && erfcinvf(one) == 0;
    out[f++] = normcdff(infinity) == 1 && normcdff(-infinity) == 0;
    out[f++] = normcdfinvf(zero) == -infinity && normcdfinvf(one) == infinity;
    out[f++] = erfcxf(infinity) == 0 && erfcxf(zero) == 1;
    out[f++] = __saturatef(nan) == 0 && __saturatef(-one) == 0 && __saturatef(two) == 1;
    out[f++] = __fdividef(one, 0x1p127f * one) == 0;  // documented: divisors from 2^126 to 2^128 give 0
    out[f++] = rcbrtf(8 * one) == 0.5f;
    out[f++] = abs(-two) == two && abs(-(int)two) == 2 && fabsf(-one) == one;
    out[f++] = rintf(2.5f * one) == 2 && roundf(2.5f * one) == 3 && truncf(-1.5f * one) == -1;
    out[f++] = lrintf(2.5f * one) == 2 && llroundf(2.5f * one) == 3 && ilogbf(8 * one) == 3;
    out[f++] = ldexpf(one, 10) == 1024 && scalbnf(two, -2) == 0.5f && copysignf(one, -zero) == -1;
    out[f++] = fdimf(two, one) == 1 && remainderf(5 * one, 3 * one) == -1 && fmodf(5 * one, 3 * one) == 2;
    out[f++] = nextafterf(one, two) > one && nextafterf(one, two) - one == 0x1p-23f;
    out[f++] = sqrt(two * two) == two && exp(zero) == one &&
               fabsf(pow(two, two) - 4) < 1e-5f;  // the float ones, by overloading
    out[f++] = sizeof(sqrt(two)) == 4 && sizeof(pow(two, two)) == 4 && sizeof(rsqrt(two)) == 4 &&
               sizeof(sinpi(two)) == 4 && sizeof(exp10(two)) == 4;
    out[f++] = fabsf(tgammaf(5 * one) - 24) < 1e-4f && fabsf(lgammaf(3 * one) - 0.69314718f) < 1e-6f;
    out[f++] = fabsf(j0f(one) - 0.76519769f) < 1e-6f && fabsf(y1f(one) + 0.78121282f) < 1e-6f;
    out[f++] = fabsf(cyl_bessel_i0f(one) - 1.26606588f) < 1e-6f && fabsf(cyl_bessel_i1f(-one) + 0.56515910f) < 1e-6f;
    // Results that go to memory.
    int exponent = 0;
    sincosf(one, &parts[0], &parts[1]);
    parts[2] = modff(-2.75f * one, &parts[3]);
    parts[4] = frexpf(12 * one, &exponent);
    out[f++] = fabsf(parts[0] - 0.84147098f) < 1e-6f && fabsf(parts[1] - 0.54030231f) < 1e-6f;
    out[f++] = parts[2] == -0.75f && parts[3] == -2 && parts[4] == 0.75f && exponent == 4;
    out[f++] = frexp((double)one * 0x1p-1070, &exponent) == 0.5 && exponent == -1069 && modff(infinity, &parts[3]) == 0;
    out[f] = f == kFacts - 1;
}

// ---- The reference -------------------------------------------------------------------------------------------------

constexpr long double kPi = 3.14159265358979323846264338327950288L;

// The zero of a rising function, by halving.
template <class Function>
long double zero_of(Function function, long double low, long double high) {
    for (int i = 0; i < 120; ++i) {
        const long double middle = (low + high) / 2;
        (function(middle) < 0 ? low : high) = middle;
    }
    return (low + high) / 2;
}
// The inverses by whichever of erf and erfc has more digits there.
long double inverse_erf(long double value) {
    if (value < 0) return -inverse_erf(-value);
    if (value == 0) return 0;
    if (value <= 0.5L) return zero_of([=](long double x) { return std::erf(x) - value; }, 0, 1);
    return zero_of([=](long double x) { return 1 - value - std::erfc(x); }, 0, 30);
}
long double inverse_erfc(long double value) {
    if (value >= 0.5L) return inverse_erf(1 - value);
    return zero_of([=](long double x) { return value - std::erfc(x); }, 0, 30);
}
long double sine_of_half_turns(long double x) { return std::sin(kPi * std::fmod(x, 2.0L)); }
long double cosine_of_half_turns(long double x) { return std::cos(kPi * std::fmod(x, 2.0L)); }

struct function {
    const char* name;
    long double expected;
    double float_ulps, double_ulps;
};

// The places of a T between a result and the exact value. A sine near a multiple of pi has an error in units of its
// argument's reduction: where `least` is given, a result below it is measured in the places of `least`.
template <class T>
double ulps(T got, long double expected, double least = 0) {
    if (expected != expected) return got != got ? 0 : 1e9;
    int exponent = 0;
    std::frexp(std::fmax(std::fabs(expected), (long double)least), &exponent);
    exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
    return (double)(std::fabs(got - expected) / std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

template <class T>
std::vector<arguments<T>> some_arguments() {
    std::vector<arguments<T>> inputs(kInputs);
    numbers random;
    const auto fraction = [&] { return (long double)(random.next() >> 11) / (1ull << 53); };
    for (arguments<T>& in : inputs) {
        in.x = (T)(18 * fraction() - 9);
        in.y = (T)(18 * fraction() - 9);
        in.positive = (T)std::ldexp(1 + fraction(), (int)(random.next() % 60) - 30);
        in.unit = (T)(2 * fraction() - 1);
        if (random.next() % 8 == 0) in.unit = (T)std::ldexp((double)in.unit, -(int)(random.next() % 20));
    }
    return inputs;
}

template <class T>
void check_functions(const char* type, void (*kernel)(const arguments<T>*, T*)) {
    const std::vector<arguments<T>> inputs = some_arguments<T>();
    device_array<arguments<T>> in(inputs);
    device_array<T> out((size_t)kInputs * kFunctions);
    kernel<<<kInputs / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<T> got = out.values();
    for (int i = 0; i < kInputs; ++i) {
        const long double x = inputs[i].x, p = inputs[i].positive, u = inputs[i].unit, y = inputs[i].y;
        // What the kernel computes in T, before the function.
        const long double above = (T)(1 + inputs[i].unit), middle = (T)(T(0.5) + T(0.5) * inputs[i].unit);
        // The greatest errors that CUDA documents, in places of float and double; those of glibc where they are greater
        // (cbrt, exp10, log10 and tanh of double). 0.5 is a correctly rounded result. CUDA's are differences from such
        // a result, so the exact value may be half a place further away. An H200 needs a part of that for rnorm3d,
        // log2, log1p and cosh.
        const function functions[kFunctions] = {
            {"sqrt", std::sqrt(p), 0.5, 0.5},
            {"rsqrt", 1 / std::sqrt(p), 2, 1},
            {"cbrt", std::cbrt(p), 1, 4},
            {"rcbrt", 1 / std::cbrt(p), 1, 1},
            {"hypot", std::hypot(x, y), 3, 2},
            {"rhypot", 1 / std::hypot(x, y), 2, 1},
            {"norm3d", std::sqrt(x * x + y * y + u * u), 3, 2},
            {"rnorm3d", 1 / std::sqrt(x * x + y * y + u * u), 2, 1.1},
            {"norm4d", std::sqrt(x * x + y * y + u * u + 4), 3, 2},
            {"exp", std::exp(x), 2, 1},
            {"exp2", std::exp2(x), 2, 1},
            {"exp10", std::pow(10.0L, x), 2, 2},
            {"expm1", std::expm1(x), 2, 1},
            {"log", std::log(p), 1, 1},
            {"log2", std::log2(p), 1, 1.3},
            {"log10", std::log10(p), 2, 2},
            {"log1p", std::log1p(p), 1, 1.2},
            {"sin", std::sin(x), 2, 2},
            {"cos", std::cos(x), 2, 2},
            {"tan", std::tan(x), 4, 2},
            {"sinpi", sine_of_half_turns(x), 1, 2},
            {"cospi", cosine_of_half_turns(x), 1, 2},
            {"asin", std::asin(u), 2, 2},
            {"acos", std::acos(u), 2, 2},
            {"atan", std::atan(x), 2, 2},
            {"atan2", std::atan2(x, y), 3, 2},
            {"sinh", std::sinh(x), 3, 2},
            {"cosh", std::cosh(x), 2.1, 1.2},
            {"tanh", std::tanh(x), 2, 2},
            {"asinh", std::asinh(x), 3, 3},
            {"pow", std::pow(p, u), 4, 2},
            {"erf", std::erf(x), 2, 2},
            {"erfc", std::erfc(x), 4, 5},
            {"erfinv", inverse_erf(u), 2, 5},
            {"erfcinv", inverse_erfc(above), 4, 6},
            {"erfcx", std::exp(x * x) * std::erfc(x), 4, 4},
            {"normcdf", std::erfc(-x / std::sqrt(2.0L)) / 2, 5, 5},
            {"normcdfinv", -std::sqrt(2.0L) * inverse_erfc(2 * middle), 5, 8},
            {"fmod", std::fmod(x, y), 0.5, 0.5},
            {"fma", (long double)std::fma((T)x, (T)y, (T)u), 0.5, 0.5},
            {"sincospi", sine_of_half_turns(x) + 16 * cosine_of_half_turns(x), 3, 3},
        };
        for (int f = 0; f < kFunctions; ++f) {
            const T value = got[(size_t)i * kFunctions + f];
            // Allows for the reference's own error, and for results that the reference loses by cancelling.
            const double tolerance = (sizeof(T) == 4 ? functions[f].float_ulps : functions[f].double_ulps) + 0.02;
            const double least = f == kFunctions - 1 ? 16 : f == 20 || f == 21 ? 0.1 : 0;
            if (!(ulps(value, functions[f].expected, least) <= tolerance)) {
                std::printf("%s %s of x = %.17g, positive = %.17g, unit = %.17g, y = %.17g: %.17g, expected %.17g\n",
                            type, functions[f].name, (double)x, (double)p, (double)u, (double)y, (double)value,
                            (double)functions[f].expected);
                std::exit(1);
            }
        }
    }
}

void check_fast() {
    const std::vector<arguments<float>> inputs = some_arguments<float>();
    device_array<arguments<float>> in(inputs);
    device_array<float> out((size_t)kInputs * kFast);
    fast<<<kInputs / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<float> got = out.values();
    const auto expect = [](const char* name, float input, float value, double expected, double tolerance) {
        if (!(std::fabs(value - expected) <= tolerance)) {
            std::printf("%s of %.9g: %.9g, expected %.9g\n", name, input, value, expected);
            std::exit(1);
        }
    };
    for (int i = 0; i < kInputs; ++i) {
        const float* row = &got[(size_t)i * kFast];
        const double x = inputs[i].x, p = inputs[i].positive, y = inputs[i].y;
        const double u = inputs[i].unit, wave = 3.0f * inputs[i].unit, base = 2.0f + inputs[i].unit;
        const double ulp = 0x1p-23;  // of 1, and of a result in proportion
        expect("__fdividef", (float)y, row[0], x / y, 2 * ulp * std::fabs(x / y));
        expect("__expf", (float)x, row[1], std::exp(x), (2 + std::floor(std::fabs(1.173 * x))) * ulp * std::exp(x));
        expect("__exp10f", (float)x, row[2], std::pow(10, x),
               (2 + std::floor(std::fabs(2.97 * x))) * ulp * std::pow(10, x));
        // Near 1 the logarithms' errors are absolute: 2^-21.41 and 2^-22; elsewhere 3 and 2 places.
        const bool near_one = p >= 0.5 && p <= 2;
        expect("__logf", (float)p, row[3], std::log(p), near_one ? 0x1p-21 : 4 * ulp * std::fabs(std::log(p)));
        expect("__log2f", (float)p, row[4], std::log2(p), near_one ? 0x1p-21 : 3 * ulp * std::fabs(std::log2(p)));
        expect("__log10f", (float)p, row[5], std::log10(p), near_one ? 0x1p-23 : 4 * ulp * std::fabs(std::log10(p)));
        // exp2f(y * __log2f(x)): both errors, and that of the product.
        const double power = std::pow(base, y);
        expect("__powf", (float)base, row[6], power,
               power * (4 * ulp + std::fabs(y) * (0x1p-20 + ulp * std::fabs(std::log2(base)))));
        expect("__sinf", (float)wave, row[7], std::sin(wave), 0x1p-21);
        expect("__cosf", (float)wave, row[8], std::cos(wave), 0x1p-21);
        expect("__tanf", (float)u, row[9], std::tan(u), 0x1p-18);
        expect("__sincosf's sine", (float)wave, row[10], std::sin(wave), 0x1p-21);
        expect("__sincosf's cosine", (float)wave, row[11], std::cos(wave), 0x1p-21);
        expect("__saturatef", (float)x, row[12], x < 0 ? 0 : x > 1 ? 1 : x, 0);
        expect("__frsqrt_rn", (float)p, row[13], (float)(1 / std::sqrt((long double)p)), 0);
    }
}

void check_facts() {
    device_array<float> values(std::vector<float>{NAN, INFINITY, 0, 1, 2});
    device_array<int> out(kFacts);
    device_array<float> parts(5);
    facts<<<1, 1>>>(values.data(), out.data(), parts.data());
    const std::vector<int> got = out.values();
    for (int f = 0; f < kFacts; ++f) {
        if (got[f] != 1) wrong("fact", (unsigned long long)f, got[f], 1);
    }
}

int main() {
    check_functions<float>("float", of_floats);
    check_functions<double>("double", of_doubles);
    check_fast();
    check_facts();
    std::printf("ok\n");
    return 0;
}
