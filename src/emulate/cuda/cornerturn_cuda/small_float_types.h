// The class of a 16-bit float, and the class of a pair of them. See small_float.h: this file has no include guard.

struct CT_RAW {
    unsigned short x;
};
struct alignas(4) CT_PAIR_RAW {
    unsigned short x, y;
};

struct alignas(2) CT_SMALL {
    using ct_format = CT_FORMAT;
    unsigned short __x;

    CT_SMALL() = default;
    constexpr CT_SMALL(const CT_RAW& raw) : __x(raw.x) {}
    constexpr operator CT_RAW() const { return CT_RAW{__x}; }

#ifndef CT_NO_CONVERSIONS
    CT_INLINE CT_SMALL(float a) : __x(ct_round<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(double a) : __x(ct_round<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(short a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(unsigned short a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(int a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(unsigned int a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(long a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(unsigned long a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(long long a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    CT_INLINE CT_SMALL(unsigned long long a) : __x(ct_round_integer<CT_FORMAT, ct_nearest>(a)) {}
    // From the other 16-bit float.
    template <class Other, class Format = typename Other::ct_format>
    CT_INLINE explicit CT_SMALL(const Other& a) : __x(ct_round<CT_FORMAT, ct_nearest>(ct_decode<Format>(a.__x))) {}

    // Conversions to integers round toward zero and clamp to the integer's range. NaN converts as in __half2int_rz()
    // and similar functions.
    CT_INLINE operator float() const { return ct_decode<CT_FORMAT>(__x); }
    CT_INLINE operator signed char() const { return ct_decode_integer<CT_FORMAT, signed char, ct_to_zero>(__x); }
    CT_INLINE operator unsigned char() const { return ct_decode_integer<CT_FORMAT, unsigned char, ct_to_zero>(__x); }
    CT_INLINE operator char() const { return ct_decode_integer<CT_FORMAT, char, ct_to_zero>(__x); }
    CT_INLINE operator short() const { return ct_decode_integer<CT_FORMAT, short, ct_to_zero>(__x); }
    CT_INLINE operator unsigned short() const { return ct_decode_integer<CT_FORMAT, unsigned short, ct_to_zero>(__x); }
    CT_INLINE operator int() const { return ct_decode_integer<CT_FORMAT, int, ct_to_zero>(__x); }
    CT_INLINE operator unsigned int() const { return ct_decode_integer<CT_FORMAT, unsigned int, ct_to_zero>(__x); }
    CT_INLINE operator long() const { return ct_decode_integer<CT_FORMAT, long, ct_to_zero>(__x); }
    CT_INLINE operator unsigned long() const { return ct_decode_integer<CT_FORMAT, unsigned long, ct_to_zero>(__x); }
    CT_INLINE operator long long() const { return ct_decode_integer<CT_FORMAT, long long, ct_to_zero>(__x); }
    CT_INLINE operator unsigned long long() const {
        return ct_decode_integer<CT_FORMAT, unsigned long long, ct_to_zero>(__x);
    }
    constexpr operator bool() const { return (__x & 0x7fff) != 0; }
#endif
};

struct alignas(4) CT_PAIR {
    CT_SMALL x, y;

    CT_PAIR() = default;
    constexpr CT_PAIR(CT_SMALL low, CT_SMALL high) : x(low), y(high) {}
    constexpr CT_PAIR(const CT_PAIR_RAW& raw) : x(CT_RAW{raw.x}), y(CT_RAW{raw.y}) {}
    constexpr operator CT_PAIR_RAW() const { return CT_PAIR_RAW{x.__x, y.__x}; }
};
