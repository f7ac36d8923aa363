// make_float4() and similar functions.
#pragma once

#include "cornerturn_cuda/base.h"
#include "vector_types.h"

CT_INLINE char1 make_char1(signed char x) { return char1{x}; }
CT_INLINE char2 make_char2(signed char x, signed char y) { return char2{x, y}; }
CT_INLINE char3 make_char3(signed char x, signed char y, signed char z) { return char3{x, y, z}; }
CT_INLINE char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return char4{x, y, z, w}; }

CT_INLINE uchar1 make_uchar1(unsigned char x) { return uchar1{x}; }
CT_INLINE uchar2 make_uchar2(unsigned char x, unsigned char y) { return uchar2{x, y}; }
CT_INLINE uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return uchar3{x, y, z}; }
CT_INLINE uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
    return uchar4{x, y, z, w};
}

CT_INLINE short1 make_short1(short x) { return short1{x}; }
CT_INLINE short2 make_short2(short x, short y) { return short2{x, y}; }
CT_INLINE short3 make_short3(short x, short y, short z) { return short3{x, y, z}; }
CT_INLINE short4 make_short4(short x, short y, short z, short w) { return short4{x, y, z, w}; }

CT_INLINE ushort1 make_ushort1(unsigned short x) { return ushort1{x}; }
CT_INLINE ushort2 make_ushort2(unsigned short x, unsigned short y) { return ushort2{x, y}; }
CT_INLINE ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return ushort3{x, y, z}; }
CT_INLINE ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) {
    return ushort4{x, y, z, w};
}

CT_INLINE int1 make_int1(int x) { return int1{x}; }
CT_INLINE int2 make_int2(int x, int y) { return int2{x, y}; }
CT_INLINE int3 make_int3(int x, int y, int z) { return int3{x, y, z}; }
CT_INLINE int4 make_int4(int x, int y, int z, int w) { return int4{x, y, z, w}; }

CT_INLINE uint1 make_uint1(unsigned int x) { return uint1{x}; }
CT_INLINE uint2 make_uint2(unsigned int x, unsigned int y) { return uint2{x, y}; }
CT_INLINE uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return uint3{x, y, z}; }
CT_INLINE uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return uint4{x, y, z, w}; }

CT_INLINE long1 make_long1(long x) { return long1{x}; }
CT_INLINE long2 make_long2(long x, long y) { return long2{x, y}; }
CT_INLINE long3 make_long3(long x, long y, long z) { return long3{x, y, z}; }
CT_INLINE long4 make_long4(long x, long y, long z, long w) { return long4{x, y, z, w}; }

CT_INLINE ulong1 make_ulong1(unsigned long x) { return ulong1{x}; }
CT_INLINE ulong2 make_ulong2(unsigned long x, unsigned long y) { return ulong2{x, y}; }
CT_INLINE ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return ulong3{x, y, z}; }
CT_INLINE ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
    return ulong4{x, y, z, w};
}

CT_INLINE longlong1 make_longlong1(long long x) { return longlong1{x}; }
CT_INLINE longlong2 make_longlong2(long long x, long long y) { return longlong2{x, y}; }
CT_INLINE longlong3 make_longlong3(long long x, long long y, long long z) { return longlong3{x, y, z}; }
CT_INLINE longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return longlong4{x, y, z, w}; }

CT_INLINE ulonglong1 make_ulonglong1(unsigned long long x) { return ulonglong1{x}; }
CT_INLINE ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return ulonglong2{x, y}; }
CT_INLINE ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) {
    return ulonglong3{x, y, z};
}
CT_INLINE ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z,
                                     unsigned long long w) {
    return ulonglong4{x, y, z, w};
}

CT_INLINE float1 make_float1(float x) { return float1{x}; }
CT_INLINE float2 make_float2(float x, float y) { return float2{x, y}; }
CT_INLINE float3 make_float3(float x, float y, float z) { return float3{x, y, z}; }
CT_INLINE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

CT_INLINE double1 make_double1(double x) { return double1{x}; }
CT_INLINE double2 make_double2(double x, double y) { return double2{x, y}; }
CT_INLINE double3 make_double3(double x, double y, double z) { return double3{x, y, z}; }
CT_INLINE double4 make_double4(double x, double y, double z, double w) { return double4{x, y, z, w}; }

CT_INLINE long4_16a make_long4_16a(long x, long y, long z, long w) { return long4_16a{x, y, z, w}; }
CT_INLINE long4_32a make_long4_32a(long x, long y, long z, long w) { return long4_32a{x, y, z, w}; }
CT_INLINE ulong4_16a make_ulong4_16a(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
    return ulong4_16a{x, y, z, w};
}
CT_INLINE ulong4_32a make_ulong4_32a(unsigned long x, unsigned long y, unsigned long z, unsigned long w) {
    return ulong4_32a{x, y, z, w};
}
CT_INLINE longlong4_16a make_longlong4_16a(long long x, long long y, long long z, long long w) {
    return longlong4_16a{x, y, z, w};
}
CT_INLINE longlong4_32a make_longlong4_32a(long long x, long long y, long long z, long long w) {
    return longlong4_32a{x, y, z, w};
}
CT_INLINE ulonglong4_16a make_ulonglong4_16a(unsigned long long x, unsigned long long y, unsigned long long z,
                                             unsigned long long w) {
    return ulonglong4_16a{x, y, z, w};
}
CT_INLINE ulonglong4_32a make_ulonglong4_32a(unsigned long long x, unsigned long long y, unsigned long long z,
                                             unsigned long long w) {
    return ulonglong4_32a{x, y, z, w};
}
CT_INLINE double4_16a make_double4_16a(double x, double y, double z, double w) { return double4_16a{x, y, z, w}; }
CT_INLINE double4_32a make_double4_32a(double x, double y, double z, double w) { return double4_32a{x, y, z, w}; }
