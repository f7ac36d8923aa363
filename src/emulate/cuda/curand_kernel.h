// cuRAND's device functions, for the generators XORWOW (Marsaglia, "Xorshift RNGs", 2003) and Philox4x32-10 (Salmon et
// al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//
// Philox returns the same numbers as cuRAND (normal ones within rounding), compared on an H200. XORWOW returns other
// numbers than cuRAND for the same seed, because cuRAND's seeding is not published. Here splitmix64 mixes the seed of a
// sequence. The sequences differ, but are not 2^67 steps apart.
#pragma once

#define CURAND_KERNEL_H_

#include <math.h>

#include "cornerturn_cuda/base.h"
#include "curand.h"
#include "vector_types.h"

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
    uint4 ctr;
    uint4 output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag;
    int boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// XORWOW.

CT_INLINE unsigned int curand(curandStateXORWOW_t* state) {
    const unsigned int t = state->v[0] ^ (state->v[0] >> 2);
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = state->v[4];
    state->v[4] = (state->v[4] ^ (state->v[4] << 4)) ^ (t ^ (t << 1));
    state->d += 362437;
    return state->v[4] + state->d;
}

CT_INLINE unsigned long long ct_splitmix64(unsigned long long& x) {
    x += 0x9e3779b97f4a7c15ull;
    unsigned long long z = x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

template <class T>
CT_INLINE void skipahead(unsigned long long n, T* state);

// One step at a time, so a large n takes long.
template <>
CT_INLINE void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
    for (unsigned long long i = 0; i < n; ++i) curand(state);
}

CT_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStateXORWOW_t* state) {
    unsigned long long mixed = seed;
    mixed = ct_splitmix64(mixed) ^ (subsequence * 0xd1342543de82ef95ull);
    const unsigned long long a = ct_splitmix64(mixed), b = ct_splitmix64(mixed), c = ct_splitmix64(mixed);
    state->v[0] = static_cast<unsigned int>(a) | 1u;  // not all 0: the generator would stay at 0
    state->v[1] = static_cast<unsigned int>(a >> 32);
    state->v[2] = static_cast<unsigned int>(b);
    state->v[3] = static_cast<unsigned int>(b >> 32);
    state->v[4] = static_cast<unsigned int>(c);
    state->d = static_cast<unsigned int>(c >> 32);
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0.f;
    state->boxmuller_extra_double = 0.;
    skipahead(offset, state);
}

// Philox4x32-10.

CT_INLINE uint4 ct_philox(uint4 c, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long p = 0xD2511F53ull * c.x, q = 0xCD9E8D57ull * c.z;
        c = uint4{static_cast<unsigned int>(q >> 32) ^ c.y ^ key.x, static_cast<unsigned int>(q),
                  static_cast<unsigned int>(p >> 32) ^ c.w ^ key.y, static_cast<unsigned int>(p)};
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

// The counter's low half counts steps of four numbers, its high half sequences.
CT_INLINE uint4 ct_philox_counter(uint4 c, unsigned long long steps, unsigned long long sequences) {
    const unsigned long long low = c.x | static_cast<unsigned long long>(c.y) << 32;
    const unsigned long long sum = low + steps;
    const unsigned long long high =
        (c.z | static_cast<unsigned long long>(c.w) << 32) + sequences + (sum < low ? 1ull : 0ull);
    return uint4{static_cast<unsigned int>(sum), static_cast<unsigned int>(sum >> 32), static_cast<unsigned int>(high),
                 static_cast<unsigned int>(high >> 32)};
}

template <>
CT_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned long long within = state->STATE + (n & 3);
    state->ctr = ct_philox_counter(state->ctr, n / 4 + within / 4, 0);
    state->STATE = static_cast<unsigned int>(within & 3);
    state->output = ct_philox(state->ctr, state->key);
}

CT_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    state->ctr = ct_philox_counter(state->ctr, 0, n);
    state->output = ct_philox(state->ctr, state->key);
}

CT_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStatePhilox4_32_10_t* state) {
    state->key = uint2{static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)};
    state->ctr = ct_philox_counter(uint4{0, 0, 0, 0}, offset / 4, subsequence);
    state->STATE = static_cast<unsigned int>(offset & 3);
    state->boxmuller_flag = 0;
    state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0.f;
    state->boxmuller_extra_double = 0.;
    state->output = ct_philox(state->ctr, state->key);
}

CT_INLINE void ct_philox_next(curandStatePhilox4_32_10_t* state) {
    state->ctr = ct_philox_counter(state->ctr, 1, 0);
    state->output = ct_philox(state->ctr, state->key);
}

CT_INLINE unsigned int curand(curandStatePhilox4_32_10_t* state) {
    const unsigned int at = state->STATE;
    const uint4 from = state->output;
    const unsigned int number = at == 0 ? from.x : at == 1 ? from.y : at == 2 ? from.z : from.w;
    if (at == 3) ct_philox_next(state);
    state->STATE = (at + 1) & 3;
    return number;
}

CT_INLINE uint4 curand4(curandStatePhilox4_32_10_t* state) {
    const uint4 a = state->output;
    ct_philox_next(state);
    const uint4 b = state->output;
    switch (state->STATE) {
        case 1: return uint4{a.y, a.z, a.w, b.x};
        case 2: return uint4{a.z, a.w, b.x, b.y};
        case 3: return uint4{a.w, b.x, b.y, b.z};
        default: return a;
    }
}

// Distributions. Uniform numbers lie in (0, 1].

CT_INLINE float ct_uniform(unsigned int x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
CT_INLINE double ct_uniform_double(unsigned int x) { return x * 0x1p-32 + 0x1p-32; }
CT_INLINE double ct_uniform_double(unsigned int x, unsigned int y) {
    const unsigned long long z = static_cast<unsigned long long>(x) ^ (static_cast<unsigned long long>(y) << 21);
    return static_cast<double>(z) * 0x1p-53 + 0x1p-54;
}

// Two normal numbers from two uniform ones, by the Box-Muller transform.
CT_INLINE float2 ct_box_muller(unsigned int x, unsigned int y) {
    const float u = ct_uniform(x);
    const float v = static_cast<float>(y) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
    const float s = ::sqrtf(-2.0f * ::logf(u));
    return float2{s * ::sinf(v), s * ::cosf(v)};
}
CT_INLINE double2 ct_box_muller_double(double u, double v) {
    const double s = ::sqrt(-2.0 * ::log(u));
    return double2{s * ::sin(6.283185307179586 * v), s * ::cos(6.283185307179586 * v)};
}

CT_INLINE float curand_uniform(curandStateXORWOW_t* state) { return ct_uniform(curand(state)); }
CT_INLINE float curand_uniform(curandStatePhilox4_32_10_t* state) { return ct_uniform(curand(state)); }
CT_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return float4{ct_uniform(x.x), ct_uniform(x.y), ct_uniform(x.z), ct_uniform(x.w)};
}

CT_INLINE double curand_uniform_double(curandStateXORWOW_t* state) {
    const unsigned int x = curand(state), y = curand(state);
    return ct_uniform_double(x, y);
}
// Philox uses one 32-bit number here.
CT_INLINE double curand_uniform_double(curandStatePhilox4_32_10_t* state) { return ct_uniform_double(curand(state)); }
CT_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return double2{ct_uniform_double(x.x, x.y), ct_uniform_double(x.z, x.w)};
}
CT_INLINE double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}

template <class State>
CT_INLINE float2 curand_normal2(State* state) {
    const unsigned int x = curand(state), y = curand(state);
    return ct_box_muller(x, y);
}
// The second number of a pair is kept for the next call.
template <class State>
CT_INLINE float curand_normal(State* state) {
    if (state->boxmuller_flag) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    const float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = 1;
    return pair.x;
}
CT_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    const float2 a = ct_box_muller(x.x, x.y), b = ct_box_muller(x.z, x.w);
    return float4{a.x, a.y, b.x, b.y};
}

CT_INLINE double2 curand_normal2_double(curandStateXORWOW_t* state) {
    const double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return ct_box_muller_double(u, v);
}
CT_INLINE double2 curand_normal2_double(curandStatePhilox4_32_10_t* state) {
    const double2 x = curand_uniform2_double(state);
    return ct_box_muller_double(x.x, x.y);
}
template <class State>
CT_INLINE double curand_normal_double(State* state) {
    if (state->boxmuller_flag_double) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = 1;
    return pair.x;
}
CT_INLINE double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
    const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}

template <class State>
CT_INLINE float curand_log_normal(State* state, float mean, float stddev) {
    return ::expf(mean + stddev * curand_normal(state));
}
template <class State>
CT_INLINE float2 curand_log_normal2(State* state, float mean, float stddev) {
    const float2 n = curand_normal2(state);
    return float2{::expf(mean + stddev * n.x), ::expf(mean + stddev * n.y)};
}
CT_INLINE float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
    const float4 n = curand_normal4(state);
    return float4{::expf(mean + stddev * n.x), ::expf(mean + stddev * n.y), ::expf(mean + stddev * n.z),
                  ::expf(mean + stddev * n.w)};
}
template <class State>
CT_INLINE double curand_log_normal_double(State* state, double mean, double stddev) {
    return ::exp(mean + stddev * curand_normal_double(state));
}

// Knuth's product of uniform numbers. It splits lambda to keep exp(-lambda) in range. The numbers differ from cuRAND's.
template <class State>
inline unsigned int curand_poisson(State* state, double lambda) {
    unsigned int count = 0;
    for (double left = lambda; left > 0; left -= 500) {
        const double least = ::exp(-(left < 500 ? left : 500));
        for (double product = curand_uniform(state); product > least; product *= curand_uniform(state)) ++count;
    }
    return count;
}
