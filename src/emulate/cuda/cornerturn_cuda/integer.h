// CUDA's integer intrinsics.
#pragma once

#include "../vector_types.h"
#include "base.h"
#include "simd.h"

CT_INLINE int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned int)a); }
CT_INLINE int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
CT_INLINE int __ffs(int a) { return __builtin_ffs(a); }
CT_INLINE int __ffsll(long long a) { return __builtin_ffsll(a); }

// Adds neighbouring bits, then pairs, and so on. Not every x86-64 processor has an instruction for this, and the
// compiler's function reads a table in memory.
CT_INLINE int __popcll(unsigned long long a) {
#ifdef __POPCNT__
    return __builtin_popcountll(a);
#else
    a -= a >> 1 & 0x5555555555555555;
    a = (a & 0x3333333333333333) + (a >> 2 & 0x3333333333333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return int(a * 0x0101010101010101 >> 56);
#endif
}
CT_INLINE int __popc(unsigned int a) { return __popcll(a); }

CT_INLINE unsigned long long __brevll(unsigned long long a) {
    a = (a >> 1 & 0x5555555555555555) | (a & 0x5555555555555555) << 1;
    a = (a >> 2 & 0x3333333333333333) | (a & 0x3333333333333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f0f0f0f0f) | (a & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(a);
}
CT_INLINE unsigned int __brev(unsigned int a) { return (unsigned int)(__brevll(a) >> 32); }

// The position of the offset-th set bit, counted upward from `base`, or downward if `offset` is negative.
inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
    const int step = offset < 0 ? -1 : 1;
    int left = offset < 0 ? -offset : offset;
    if (offset == 0) return mask >> (base & 31) & 1 ? base : ~0u;
    for (int place = int(base); place >= 0 && place < 32; place += step) {
        if ((mask >> place & 1) && --left == 0) return (unsigned int)place;
    }
    return ~0u;
}

// Each of the selector's four hexadecimal digits selects one of the eight bytes of b and a.
CT_INLINE unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    const unsigned long long bytes = (unsigned long long)b << 32 | a;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int place = selector >> (4 * i) & 7;
        result |= (unsigned int)(bytes >> (8 * place) & 0xff) << (8 * i);
    }
    return result;
}

// Shifts the 64 bits of high and low. The functions that end in c clamp the shift to 32. The others use its last five
// bits.
CT_INLINE unsigned int ct_funnel_left(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned int)((((unsigned long long)high << 32 | low) << shift) >> 32);
}
CT_INLINE unsigned int ct_funnel_right(unsigned int low, unsigned int high, unsigned int shift) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> shift);
}
CT_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return ct_funnel_left(low, high, shift & 31);
}
CT_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return ct_funnel_left(low, high, shift < 32 ? shift : 32);
}
CT_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return ct_funnel_right(low, high, shift & 31);
}
CT_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return ct_funnel_right(low, high, shift < 32 ? shift : 32);
}

__extension__ typedef __int128 ct_int128;
__extension__ typedef unsigned __int128 ct_uint128;

CT_INLINE int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
CT_INLINE unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}
CT_INLINE long long __mul64hi(long long a, long long b) { return (long long)((ct_int128)a * b >> 64); }
CT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((ct_uint128)a * b >> 64);
}
CT_INLINE int __mul24(int a, int b) {
    const int x = int((unsigned int)a << 8) >> 8, y = int((unsigned int)b << 8) >> 8;
    return int((unsigned int)x * (unsigned int)y);
}
CT_INLINE unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffff) * (b & 0xffffff); }

CT_INLINE unsigned int __sad(int a, int b, unsigned int c) {
    return c + (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b);
}
CT_INLINE unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a < b ? b - a : a - b); }
CT_INLINE int __hadd(int a, int b) { return int(((long long)a + b) >> 1); }
CT_INLINE int __rhadd(int a, int b) { return int(((long long)a + b + 1) >> 1); }
CT_INLINE unsigned int __uhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}
CT_INLINE unsigned int __urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}

// Adds products to c: four products of bytes (dp4a), or two products of a 16-bit number and a byte (dp2a). dp2a uses
// the lower or the upper two bytes of b.
template <class Byte>
CT_INLINE unsigned int ct_dp4a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 32; i += 8) c += (unsigned int)(int(Byte(a >> i)) * int(Byte(b >> i)));
    return c;
}
template <class Short, class Byte>
CT_INLINE unsigned int ct_dp2a(unsigned int a, unsigned int b, unsigned int c) {
    for (int i = 0; i < 2; ++i) c += (unsigned int)(int(Short(a >> (16 * i))) * int(Byte(b >> (8 * i))));
    return c;
}
template <class Vector>
CT_INLINE unsigned int ct_word_of(Vector a) {
    return __builtin_bit_cast(unsigned int, a);
}
CT_INLINE int __dp4a(int a, int b, int c) { return int(ct_dp4a<signed char>(a, b, c)); }
CT_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
    return ct_dp4a<unsigned char>(a, b, c);
}
CT_INLINE int __dp4a(char4 a, char4 b, int c) { return int(ct_dp4a<signed char>(ct_word_of(a), ct_word_of(b), c)); }
CT_INLINE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return ct_dp4a<unsigned char>(ct_word_of(a), ct_word_of(b), c);
}
CT_INLINE int __dp2a_lo(int a, int b, int c) { return int(ct_dp2a<short, signed char>(a, b, c)); }
CT_INLINE int __dp2a_hi(int a, int b, int c) { return int(ct_dp2a<short, signed char>(a, (unsigned int)b >> 16, c)); }
CT_INLINE unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return ct_dp2a<unsigned short, unsigned char>(a, b, c);
}
CT_INLINE unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    return ct_dp2a<unsigned short, unsigned char>(a, b >> 16, c);
}
CT_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(int(ct_word_of(a)), int(ct_word_of(b)), c); }
CT_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(int(ct_word_of(a)), int(ct_word_of(b)), c); }
CT_INLINE unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_lo(ct_word_of(a), ct_word_of(b), c);
}
CT_INLINE unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
    return __dp2a_hi(ct_word_of(a), ct_word_of(b), c);
}
