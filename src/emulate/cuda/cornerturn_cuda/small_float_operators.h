// Operators of 16-bit floats. See small_float.h: this file has no include guard.

CT_INLINE CT_SMALL operator+(CT_SMALL a, CT_SMALL b) { return __hadd(a, b); }
CT_INLINE CT_SMALL operator-(CT_SMALL a, CT_SMALL b) { return __hsub(a, b); }
CT_INLINE CT_SMALL operator*(CT_SMALL a, CT_SMALL b) { return __hmul(a, b); }
CT_INLINE CT_SMALL operator/(CT_SMALL a, CT_SMALL b) { return __hdiv(a, b); }
CT_INLINE CT_SMALL& operator+=(CT_SMALL& a, CT_SMALL b) { return a = __hadd(a, b); }
CT_INLINE CT_SMALL& operator-=(CT_SMALL& a, CT_SMALL b) { return a = __hsub(a, b); }
CT_INLINE CT_SMALL& operator*=(CT_SMALL& a, CT_SMALL b) { return a = __hmul(a, b); }
CT_INLINE CT_SMALL& operator/=(CT_SMALL& a, CT_SMALL b) { return a = __hdiv(a, b); }
CT_INLINE CT_SMALL operator+(CT_SMALL a) { return a; }
CT_INLINE CT_SMALL operator-(CT_SMALL a) { return __hneg(a); }
CT_INLINE CT_SMALL& operator++(CT_SMALL& a) { return a = __hadd(a, CT_NAME(ct_rounded_to_, )(1)); }
CT_INLINE CT_SMALL& operator--(CT_SMALL& a) { return a = __hsub(a, CT_NAME(ct_rounded_to_, )(1)); }
CT_INLINE CT_SMALL operator++(CT_SMALL& a, int) {
    const CT_SMALL before = a;
    a = __hadd(before, CT_NAME(ct_rounded_to_, )(1));
    return before;
}
CT_INLINE CT_SMALL operator--(CT_SMALL& a, int) {
    const CT_SMALL before = a;
    a = __hsub(before, CT_NAME(ct_rounded_to_, )(1));
    return before;
}
CT_INLINE bool operator==(CT_SMALL a, CT_SMALL b) { return __heq(a, b); }
CT_INLINE bool operator!=(CT_SMALL a, CT_SMALL b) { return __hneu(a, b); }
CT_INLINE bool operator<(CT_SMALL a, CT_SMALL b) { return __hlt(a, b); }
CT_INLINE bool operator<=(CT_SMALL a, CT_SMALL b) { return __hle(a, b); }
CT_INLINE bool operator>(CT_SMALL a, CT_SMALL b) { return __hgt(a, b); }
CT_INLINE bool operator>=(CT_SMALL a, CT_SMALL b) { return __hge(a, b); }
