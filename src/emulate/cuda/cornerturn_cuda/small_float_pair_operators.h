// Operators of pairs of 16-bit floats. See small_float.h: this file has no include guard.

CT_INLINE CT_PAIR operator+(CT_PAIR a, CT_PAIR b) { return __hadd2(a, b); }
CT_INLINE CT_PAIR operator-(CT_PAIR a, CT_PAIR b) { return __hsub2(a, b); }
CT_INLINE CT_PAIR operator*(CT_PAIR a, CT_PAIR b) { return __hmul2(a, b); }
CT_INLINE CT_PAIR operator/(CT_PAIR a, CT_PAIR b) { return __h2div(a, b); }
CT_INLINE CT_PAIR& operator+=(CT_PAIR& a, CT_PAIR b) { return a = __hadd2(a, b); }
CT_INLINE CT_PAIR& operator-=(CT_PAIR& a, CT_PAIR b) { return a = __hsub2(a, b); }
CT_INLINE CT_PAIR& operator*=(CT_PAIR& a, CT_PAIR b) { return a = __hmul2(a, b); }
CT_INLINE CT_PAIR& operator/=(CT_PAIR& a, CT_PAIR b) { return a = __h2div(a, b); }
CT_INLINE CT_PAIR operator+(CT_PAIR a) { return a; }
CT_INLINE CT_PAIR operator-(CT_PAIR a) { return __hneg2(a); }
CT_INLINE CT_PAIR& operator++(CT_PAIR& a) { return a = __hadd2(a, CT_NAME(__float2, 2_rn)(1)); }
CT_INLINE CT_PAIR& operator--(CT_PAIR& a) { return a = __hsub2(a, CT_NAME(__float2, 2_rn)(1)); }
CT_INLINE CT_PAIR operator++(CT_PAIR& a, int) {
    const CT_PAIR before = a;
    a = __hadd2(before, CT_NAME(__float2, 2_rn)(1));
    return before;
}
CT_INLINE CT_PAIR operator--(CT_PAIR& a, int) {
    const CT_PAIR before = a;
    a = __hsub2(before, CT_NAME(__float2, 2_rn)(1));
    return before;
}
CT_INLINE bool operator==(CT_PAIR a, CT_PAIR b) { return __hbeq2(a, b); }
CT_INLINE bool operator!=(CT_PAIR a, CT_PAIR b) { return __hbneu2(a, b); }
CT_INLINE bool operator<(CT_PAIR a, CT_PAIR b) { return __hblt2(a, b); }
CT_INLINE bool operator<=(CT_PAIR a, CT_PAIR b) { return __hble2(a, b); }
CT_INLINE bool operator>(CT_PAIR a, CT_PAIR b) { return __hbgt2(a, b); }
CT_INLINE bool operator>=(CT_PAIR a, CT_PAIR b) { return __hbge2(a, b); }
