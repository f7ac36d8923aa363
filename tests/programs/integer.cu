// Integer intrinsics against loops over bits, bytes and lanes.
#include <cstdint>

#include "check.cuh"

constexpr int kThreads = 256, kInputs = 1 << 14;

struct input {
    uint32_t a, b, c;
    uint64_t x, y;
};

// One row of results for each input; names and expected values stand in the same order below.
constexpr int kWords = 47, kLanes = 2 * 38;

__global__ void words(const input* inputs, uint64_t* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const input in = inputs[i];
    const uint32_t a = in.a, b = in.b, c = in.c;
    const int sa = (int)a, sb = (int)b, sc = (int)c;
    uint64_t* row = out + (size_t)i * kWords;
    int f = 0;
    row[f++] = __clz(sa);
    row[f++] = __clzll((long long)in.x);
    row[f++] = __ffs(sa);
    row[f++] = __ffsll((long long)in.x);
    row[f++] = __popc(a);
    row[f++] = __popcll(in.x);
    row[f++] = __brev(a);
    row[f++] = __brevll(in.x);
    row[f++] = __byte_perm(a, b, c & 0x7777);
    row[f++] = __funnelshift_l(a, b, c);
    row[f++] = __funnelshift_r(a, b, c);
    row[f++] = __funnelshift_lc(a, b, c & 63);
    row[f++] = __funnelshift_rc(a, b, c & 63);
    row[f++] = (uint32_t)__mulhi(sa, sb);
    row[f++] = __umulhi(a, b);
    row[f++] = (uint64_t)__mul64hi((long long)in.x, (long long)in.y);
    row[f++] = __umul64hi(in.x, in.y);
    row[f++] = (uint32_t)__mul24(sa, sb);
    row[f++] = __umul24(a, b);
    row[f++] = __sad(sa, sb, c);
    row[f++] = __usad(a, b, c);
    row[f++] = (uint32_t)__hadd(sa, sb);
    row[f++] = (uint32_t)__rhadd(sa, sb);
    row[f++] = __uhadd(a, b);
    row[f++] = __urhadd(a, b);
    row[f++] = (uint32_t)__dp4a(sa, sb, sc);
    row[f++] = __dp4a(a, b, c);
    row[f++] = (uint32_t)__dp2a_lo(sa, sb, sc);
    row[f++] = (uint32_t)__dp2a_hi(sa, sb, sc);
    row[f++] = __dp2a_lo(a, b, c);
    row[f++] = __dp2a_hi(a, b, c);
    const char4 bytes =
        make_char4((signed char)a, (signed char)(a >> 8), (signed char)(a >> 16), (signed char)(a >> 24));
    const char4 others =
        make_char4((signed char)b, (signed char)(b >> 8), (signed char)(b >> 16), (signed char)(b >> 24));
    const short2 halves = make_short2((short)a, (short)(a >> 16));
    row[f++] = (uint32_t)__dp4a(bytes, others, sc);
    row[f++] = (uint32_t)__dp2a_lo(halves, others, sc);
    row[f++] = (uint32_t)__dp2a_hi(halves, others, sc);
    row[f++] = __fns(a, c & 31, (int)(b % 41) - 20);
    row[f++] = (uint32_t)max(sa, sb);
    row[f++] = max(a, b);
    row[f++] = max(sa, b);
    row[f++] = (uint64_t)min((long long)in.x, (long long)in.y);
    row[f++] = min(in.x, in.y);
    row[f++] = (uint32_t)min(sa, sb);
    row[f++] = (uint32_t)abs(sa | 1);
    row[f++] = __vsads2(a, b);
    row[f++] = __vsadu2(a, b);
    row[f++] = __vsads4(a, b);
    row[f++] = __vsadu4(a, b);
    row[f] = f == kWords - 1;
}

// Each pair is the function on 16-bit lanes and on 8-bit lanes.
__global__ void lanes(const input* inputs, uint32_t* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t a = inputs[i].a, b = inputs[i].b;
    uint32_t* row = out + (size_t)i * kLanes;
    int f = 0;
#define BOTH(name)            \
    row[f++] = name##2(a, b); \
    row[f++] = name##4(a, b)
#define BOTH_UNARY(name)   \
    row[f++] = name##2(a); \
    row[f++] = name##4(a)
    BOTH(__vadd);
    BOTH(__vaddss);
    BOTH(__vaddus);
    BOTH(__vsub);
    BOTH(__vsubss);
    BOTH(__vsubus);
    BOTH_UNARY(__vneg);
    BOTH_UNARY(__vnegss);
    BOTH_UNARY(__vabs);
    BOTH_UNARY(__vabsss);
    BOTH(__vabsdiffs);
    BOTH(__vabsdiffu);
    BOTH(__vmaxs);
    BOTH(__vmaxu);
    BOTH(__vmins);
    BOTH(__vminu);
    BOTH(__vavgu);
    BOTH(__vhaddu);
    BOTH(__vcmpeq);
    BOTH(__vcmpne);
    BOTH(__vcmpges);
    BOTH(__vcmpgeu);
    BOTH(__vcmpgts);
    BOTH(__vcmpgtu);
    BOTH(__vcmples);
    BOTH(__vcmpleu);
    BOTH(__vcmplts);
    BOTH(__vcmpltu);
    BOTH(__vseteq);
    BOTH(__vsetne);
    BOTH(__vsetges);
    BOTH(__vsetgeu);
    BOTH(__vsetgts);
    BOTH(__vsetgtu);
    BOTH(__vsetles);
    BOTH(__vsetleu);
    BOTH(__vsetlts);
    BOTH(__vsetltu);
#undef BOTH_UNARY
#undef BOTH
}

// ---- The reference: loops over single bits
// ---------------------------------------------------------------------------

int leading_zeros(uint64_t value, int bits) {
    int count = 0;
    while (count < bits && !(value >> (bits - 1 - count) & 1)) ++count;
    return count;
}
int first_set(uint64_t value, int bits) {
    for (int i = 0; i < bits; ++i) {
        if (value >> i & 1) return i + 1;
    }
    return 0;
}
int set_bits(uint64_t value) {
    int count = 0;
    for (int i = 0; i < 64; ++i) count += (int)(value >> i & 1);
    return count;
}
uint64_t reversed(uint64_t value, int bits) {
    uint64_t result = 0;
    for (int i = 0; i < bits; ++i) result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}
// The upper 64 bits of a product, by its four parts.
uint64_t high_product(uint64_t x, uint64_t y) {
    const uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    const uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (uint32_t)middle;
    return x1 * y1 + (middle >> 32) + (other >> 32);
}
int64_t lane(uint32_t word, int place, int bits, bool is_signed) {
    const int64_t value = word >> (place * bits) & ((1u << bits) - 1);
    return is_signed && (value >> (bits - 1)) ? value - (1ll << bits) : value;
}
uint32_t dot(uint32_t a, int a_bits, uint32_t b, int from, int count, bool is_signed, uint32_t c) {
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += lane(a, i, a_bits, is_signed) * lane(b, from + i, 8, is_signed);
    return c + (uint32_t)sum;
}
uint32_t differences(uint32_t a, uint32_t b, int bits, bool is_signed) {
    int64_t sum = 0;
    for (int i = 0; i < 32 / bits; ++i) sum += llabs(lane(a, i, bits, is_signed) - lane(b, i, bits, is_signed));
    return (uint32_t)sum;
}
// The 64 bits of high and low moved by single steps; `left` gives the upper word.
uint32_t funnel(uint32_t low, uint32_t high, int shift, bool left) {
    uint64_t both = (uint64_t)high << 32 | low;
    for (int i = 0; i < shift; ++i) both = left ? both << 1 : both >> 1;
    return left ? (uint32_t)(both >> 32) : (uint32_t)both;
}
uint32_t find_nth_set(uint32_t mask, uint32_t base, int offset) {
    if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
    int left = abs(offset);
    for (int i = (int)base; i >= 0 && i<32; i += offset> 0 ? 1 : -1) {
        if (mask >> i & 1 && --left == 0) return (uint32_t)i;
    }
    return 0xffffffffu;
}

void check_words(const std::vector<input>& inputs) {
    device_array<input> in(inputs);
    device_array<uint64_t> out((size_t)kInputs * kWords);
    words<<<kInputs / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<uint64_t> got = out.values();
    for (int i = 0; i < kInputs; ++i) {
        const uint32_t a = inputs[i].a, b = inputs[i].b, c = inputs[i].c;
        const int64_t sa = (int32_t)a, sb = (int32_t)b;
        const uint64_t x = inputs[i].x, y = inputs[i].y;
        const int64_t sx = (int64_t)x, sy = (int64_t)y;
        uint32_t permuted = 0;
        for (int k = 0; k < 4; ++k) {
            const int from = (int)(c >> (4 * k) & 7);
            permuted |= (uint32_t)lane(from < 4 ? a : b, from % 4, 8, false) << (8 * k);
        }
        const int32_t a24 = (int32_t)lane(a & 0xffffff, 0, 24, true), b24 = (int32_t)lane(b & 0xffffff, 0, 24, true);
        const int clamped = (c & 63) < 32 ? (int)(c & 63) : 32;
        const uint32_t dp4a_signed = dot(a, 8, b, 0, 4, true, c);
        const uint32_t dp2a_low = dot(a, 16, b, 0, 2, true, c), dp2a_high = dot(a, 16, b, 2, 2, true, c);
        const struct {
            const char* name;
            uint64_t value;
        } expected[kWords] = {
            {"__clz", (uint64_t)leading_zeros(a, 32)},
            {"__clzll", (uint64_t)leading_zeros(x, 64)},
            {"__ffs", (uint64_t)first_set(a, 32)},
            {"__ffsll", (uint64_t)first_set(x, 64)},
            {"__popc", (uint64_t)set_bits(a)},
            {"__popcll", (uint64_t)set_bits(x)},
            {"__brev", reversed(a, 32)},
            {"__brevll", reversed(x, 64)},
            {"__byte_perm", permuted},
            {"__funnelshift_l", funnel(a, b, (int)(c & 31), true)},
            {"__funnelshift_r", funnel(a, b, (int)(c & 31), false)},
            {"__funnelshift_lc", funnel(a, b, clamped, true)},
            {"__funnelshift_rc", funnel(a, b, clamped, false)},
            {"__mulhi", (uint32_t)(uint64_t)((sa * sb) >> 32)},
            {"__umulhi", (uint64_t)a * b >> 32},
            {"__mul64hi", high_product(x, y) - (sx < 0 ? y : 0) - (sy < 0 ? x : 0)},
            {"__umul64hi", high_product(x, y)},
            {"__mul24", (uint32_t)((int64_t)a24 * b24)},
            {"__umul24", (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff))},
            {"__sad", (uint32_t)(c + (uint64_t)llabs(sa - sb))},
            {"__usad", (uint32_t)(c + (uint64_t)llabs((int64_t)a - (int64_t)b))},
            {"__hadd", (uint32_t)((sa + sb) >> 1)},
            {"__rhadd", (uint32_t)((sa + sb + 1) >> 1)},
            {"__uhadd", ((uint64_t)a + b) >> 1},
            {"__urhadd", ((uint64_t)a + b + 1) >> 1},
            {"__dp4a of int", dp4a_signed},
            {"__dp4a of unsigned", dot(a, 8, b, 0, 4, false, c)},
            {"__dp2a_lo of int", dp2a_low},
            {"__dp2a_hi of int", dp2a_high},
            {"__dp2a_lo of unsigned", dot(a, 16, b, 0, 2, false, c)},
            {"__dp2a_hi of unsigned", dot(a, 16, b, 2, 2, false, c)},
            {"__dp4a of char4", dp4a_signed},
            {"__dp2a_lo of short2", dp2a_low},
            {"__dp2a_hi of short2", dp2a_high},
            {"__fns", find_nth_set(a, c & 31, (int)(b % 41) - 20)},
            {"max of int", sa < sb ? b : a},
            {"max of unsigned", a < b ? b : a},
            {"max of int and unsigned", a < b ? b : a},
            {"min of long long", sx < sy ? x : y},
            {"min of unsigned long long", x < y ? x : y},
            {"min of int", sa < sb ? a : b},
            {"abs", (uint32_t)llabs((int32_t)(a | 1))},
            {"__vsads2", differences(a, b, 16, true)},
            {"__vsadu2", differences(a, b, 16, false)},
            {"__vsads4", differences(a, b, 8, true)},
            {"__vsadu4", differences(a, b, 8, false)},
            {"the number of results", 1},
        };
        for (int f = 0; f < kWords; ++f) {
            const uint64_t value = got[(size_t)i * kWords + f];
            if (value != expected[f].value) {
                std::printf("a %#x, b %#x, c %#x, x %#llx, y %#llx: %s is %#llx, expected %#llx\n", a, b, c,
                            (unsigned long long)x, (unsigned long long)y, expected[f].name, (unsigned long long)value,
                            (unsigned long long)expected[f].value);
                std::exit(1);
            }
        }
    }
}

int64_t saturated(int64_t value, int bits, bool is_signed) {
    const int64_t largest = (1ll << (bits - is_signed)) - 1, least = is_signed ? -largest - 1 : 0;
    return value > largest ? largest : value < least ? least : value;
}

void check_lanes(const std::vector<input>& inputs) {
    device_array<input> in(inputs);
    device_array<uint32_t> out((size_t)kInputs * kLanes);
    lanes<<<kInputs / kThreads, kThreads>>>(in.data(), out.data());
    const std::vector<uint32_t> got = out.values();
    for (int i = 0; i < kInputs; ++i) {
        for (int wide = 0; wide < 2; ++wide) {
            const int bits = wide ? 8 : 16;
            for (int k = 0; k < 32 / bits; ++k) {
                const int64_t s = lane(inputs[i].a, k, bits, true), t = lane(inputs[i].b, k, bits, true);
                const int64_t u = lane(inputs[i].a, k, bits, false), v = lane(inputs[i].b, k, bits, false);
                const bool relations[10] = {u == v, u != v, s >= t, u >= v, s > t, u > v, s <= t, u <= v, s < t, u < v};
                int64_t expected[38] = {u + v,
                                        saturated(s + t, bits, true),
                                        saturated(u + v, bits, false),
                                        u - v,
                                        saturated(s - t, bits, true),
                                        saturated(u - v, bits, false),
                                        -s,
                                        saturated(-s, bits, true),
                                        llabs(s),
                                        saturated(llabs(s), bits, true),
                                        llabs(s - t),
                                        llabs(u - v),
                                        s < t ? t : s,
                                        u < v ? v : u,
                                        s < t ? s : t,
                                        u < v ? u : v,
                                        (u + v + 1) / 2,
                                        (u + v) / 2};
                for (int r = 0; r < 10; ++r) {
                    expected[18 + r] = relations[r] ? -1 : 0;
                    expected[28 + r] = relations[r];
                }
                for (int f = 0; f < 38; ++f) {
                    const int64_t value = lane(got[(size_t)i * kLanes + 2 * f + wide], k, bits, false);
                    const int64_t wanted = expected[f] & ((1ll << bits) - 1);
                    if (value != wanted) {
                        std::printf("function %d of %d-bit lanes of %#x and %#x: lane %d is %#llx, expected %#llx\n", f,
                                    bits, inputs[i].a, inputs[i].b, k, (unsigned long long)value,
                                    (unsigned long long)wanted);
                        std::exit(1);
                    }
                }
            }
        }
    }
}

int main() {
    std::vector<input> inputs(kInputs);
    numbers random;
    const uint32_t special[] = {0, 1, 0x80000000u, 0x7fffffffu, 0xffffffffu, 0x80808080u, 0x80008000u, 0x7f7f7f7fu};
    for (int i = 0; i < kInputs; ++i) {
        const int shift = (int)(random.next() % 64);
        inputs[i] = {(uint32_t)random.next() >> (shift & 31 & -(i & 1)), (uint32_t)random.next(),
                     (uint32_t)random.next(), random.next() >> shift, random.next() << (63 - shift)};
        if (i < 64) inputs[i].a = special[i / 8], inputs[i].b = special[i % 8];
        if (i < 64) inputs[i].x = (uint64_t)special[i / 8] << 32, inputs[i].y = special[i % 8];
    }
    check_words(inputs);
    check_lanes(inputs);
    std::printf("ok\n");
    return 0;
}
