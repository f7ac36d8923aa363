// 8-bit floats: conversions of every pattern to half and float, and of every half and bfloat16 to both formats, against
// a search among all values.
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "check.cuh"

constexpr int kThreads = 256, kPatterns = 1 << 16;

struct results {
    uint8_t of_half[2], of_bfloat16[2], of_float[2], unsaturated[2];
    uint16_t of_pair[2];
    uint32_t of_four[2];
};

__global__ void to_float8(const float* inputs, results* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half h = __ushort_as_half((unsigned short)i);
    const __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
    const float f = inputs[i];
    results r;
    r.of_half[0] = __nv_fp8_e4m3(h).__x;
    r.of_half[1] = __nv_fp8_e5m2(h).__x;
    r.of_bfloat16[0] = __nv_fp8_e4m3(b).__x;
    r.of_bfloat16[1] = __nv_fp8_e5m2(b).__x;
    r.of_float[0] = __nv_fp8_e4m3(f).__x;
    r.of_float[1] = __nv_fp8_e5m2(f).__x;
    r.unsaturated[0] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3);
    r.unsaturated[1] = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
    r.of_pair[0] = __nv_fp8x2_e4m3(make_float2(f, -f)).__x;
    r.of_pair[1] = __nv_fp8x2_e5m2(make_float2(f, -f)).__x;
    r.of_four[0] = __nv_fp8x4_e4m3(make_float4(f, 1.0f, -f, 2.0f)).__x;
    r.of_four[1] = __nv_fp8x4_e5m2(make_float4(f, 1.0f, -f, 2.0f)).__x;
    out[i] = r;
}

__global__ void from_float8(float* out, int* integers) {
    const int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = (__nv_fp8_storage_t)i;
    out[i] = float(a);
    out[256 + i] = float(b);
    out[512 + i] = __half2float(__half(a));
    out[768 + i] = __half2float(__half(b));
    __nv_fp8x2_e4m3 two;
    two.__x = (__nv_fp8x2_storage_t)(i << 8);
    out[1024 + i] = float2(two).y;
    integers[i] = int(a);
    integers[256 + i] = int(b);
}

// Format 0 is E4M3, format 1 E5M2. All-ones is NaN in both, and E5M2 has infinities.
constexpr int kLargest[2] = {0x7e, 0x7b};
double magnitude(int bits, int format) {
    static const std::vector<double> all = [] {
        std::vector<double> found;
        for (int i = 0; i < 256; ++i) {
            const int mantissa_bits = i < 128 ? 3 : 2, bias = i < 128 ? 7 : 15;
            const int field = (i & 0x7f) >> mantissa_bits, mantissa = i & ((1 << mantissa_bits) - 1);
            found.push_back(field == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                       : std::ldexp(mantissa + (1 << mantissa_bits), field - bias - mantissa_bits));
        }
        return found;
    }();
    return all[format * 128 + (bits & 0x7f)];
}
double value_of(int bits, int format) {
    const int size = bits & 0x7f;
    double value = magnitude(bits, format);
    if (size > kLargest[format]) value = format == 1 && size == 0x7c ? INFINITY : NAN;
    return bits & 0x80 ? -value : value;
}
// -1 is any NaN.
int pattern_of(double value, int format, bool saturate) {
    if (value != value) return -1;
    const int sign = std::signbit(value) ? 0x80 : 0;
    int nearest = 0;
    // The one after the largest takes part, as what would be rounded to it is too large.
    for (int bits = 1; bits <= kLargest[format] + 1; ++bits) {
        const double middle = (magnitude(bits, format) + magnitude(bits - 1, format)) / 2;
        if (std::fabs(value) > middle || (std::fabs(value) == middle && bits % 2 == 0)) nearest = bits;
    }
    if (nearest <= kLargest[format]) return sign | nearest;
    return saturate ? sign | kLargest[format] : format == 0 ? -1 : sign | 0x7c;
}
void expect(const char* what, int input, int format, int got, int expected) {
    const double value = value_of(got, format);
    if (expected == -1 ? value == value : got != expected)
        wrong(what, (unsigned long long)input, value, expected == -1 ? NAN : value_of(expected, format));
}

double half_of(int bits) {
    const int field = bits >> 10 & 31, mantissa = bits & 1023;
    double value = field == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, field - 25);
    if (field == 31) value = mantissa == 0 ? INFINITY : NAN;
    return bits & 0x8000 ? -value : value;
}
double bfloat16_of(int bits) {
    const int field = bits >> 7 & 255, mantissa = bits & 127;
    double value = field == 0 ? std::ldexp(mantissa, -133) : std::ldexp(mantissa + 128, field - 134);
    if (field == 255) value = mantissa == 0 ? INFINITY : NAN;
    return bits & 0x8000 ? -value : value;
}

int main() {
    std::vector<float> inputs(kPatterns);
    numbers random;
    for (int i = 0; i < kPatterns; ++i) {
        // Numbers of both formats, the middles between them, and what is beside those.
        const int bits = i & 0xff, format = i >> 8 & 1;
        const double size = magnitude(bits, format), next = magnitude((bits & 0x7f) + 1, format);
        double value = i & 512 ? size : (size + next) / 2;
        if (i & 1024) value = std::nextafter((float)value, i & 2048 ? 0.0f : INFINITY);
        if (i >= 8192) value = std::ldexp((double)(random.next() >> 40), (int)(random.next() % 40) - 44);
        inputs[i] = (float)(random.next() & 1 ? -value : value);
    }
    device_array<float> in(inputs);
    device_array<results> out(kPatterns);
    to_float8<<<kPatterns / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<results> got = out.values();
    for (int i = 0; i < kPatterns; ++i) {
        for (int format = 0; format < 2; ++format) {
            const int of_float = pattern_of(inputs[i], format, true), negative = pattern_of(-inputs[i], format, true);
            expect("half", i, format, got[i].of_half[format], pattern_of(half_of(i), format, true));
            expect("bfloat16", i, format, got[i].of_bfloat16[format], pattern_of(bfloat16_of(i), format, true));
            expect("float", i, format, got[i].of_float[format], of_float);
            expect("float, unsaturated", i, format, got[i].unsaturated[format], pattern_of(inputs[i], format, false));
            expect("float2's x", i, format, got[i].of_pair[format] & 0xff, of_float);
            expect("float2's y", i, format, got[i].of_pair[format] >> 8, negative);
            expect("float4's x", i, format, (int)(got[i].of_four[format] & 0xff), of_float);
            expect("float4's y", i, format, (int)(got[i].of_four[format] >> 8 & 0xff), pattern_of(1, format, true));
            expect("float4's z", i, format, (int)(got[i].of_four[format] >> 16 & 0xff), negative);
            expect("float4's w", i, format, (int)(got[i].of_four[format] >> 24), pattern_of(2, format, true));
        }
    }

    device_array<float> floats(5 * 256);
    device_array<int> integers(2 * 256);
    from_float8<<<1, 256>>>(floats.data(), integers.data());
    const std::vector<float> got_floats = floats.values();
    const std::vector<int> got_integers = integers.values();
    for (int k = 0; k < 5; ++k) {
        for (int i = 0; i < 256; ++i) {
            const double expected = value_of(i, k % 2), value = got_floats[k * 256 + i];
            if (expected != expected ? value == value
                                     : value != expected || std::signbit(value) != std::signbit(expected))
                wrong("to float", (unsigned long long)i, value, expected);
            if (k > 1 || std::isinf(expected)) continue;
            const int whole = expected == expected ? (int)expected : 0;
            if (got_integers[k * 256 + i] != whole)
                wrong("to int", (unsigned long long)i, got_integers[k * 256 + i], whole);
        }
    }
    std::printf("ok\n");
    return 0;
}
