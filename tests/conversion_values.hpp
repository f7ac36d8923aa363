// What a conversion must make of a value, worked out another way than the library does: each narrow float is found in a
// table of all values of its type, and all arithmetic is in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "cornerturn/element.hpp"

namespace cornerturn::tests {

inline constexpr element_type kRealTypes[] = {
    element_type::boolean, element_type::u8,  element_type::u16, element_type::u32,    element_type::u64,
    element_type::i8,      element_type::i16, element_type::i32, element_type::i64,    element_type::f16,
    element_type::bf16,    element_type::f32, element_type::f64, element_type::e4m3fn, element_type::e5m2};

static_assert(std::numeric_limits<long double>::digits >= 64, "long double must hold integers of 64 bits");

// A float of up to 16 bits.
struct small_format {
    int exponent_bits, fraction_bits;
    bool infinities;

    static std::optional<small_format> of(element_type t) {
        switch (t) {
            case element_type::f16: return small_format{5, 10, true};
            case element_type::bf16: return small_format{8, 7, true};
            case element_type::e5m2: return small_format{5, 2, true};
            case element_type::e4m3fn: return small_format{4, 3, false};
            default: return std::nullopt;
        }
    }
    // Of a pattern without its sign.
    long double value(unsigned pattern) const {
        const int exponent = static_cast<int>(pattern >> fraction_bits), bias = (1 << (exponent_bits - 1)) - 1;
        const unsigned fraction = pattern & ((1u << fraction_bits) - 1);
        const bool top = exponent == (1 << exponent_bits) - 1;
        if (infinities && top)
            return fraction == 0 ? std::numeric_limits<long double>::infinity()
                                 : std::numeric_limits<long double>::quiet_NaN();
        if (!infinities && top && fraction == (1u << fraction_bits) - 1)
            return std::numeric_limits<long double>::quiet_NaN();
        if (exponent == 0) return std::ldexp(static_cast<long double>(fraction), 1 - bias - fraction_bits);
        return std::ldexp(static_cast<long double>((1u << fraction_bits) + fraction), exponent - bias - fraction_bits);
    }
    unsigned sign() const { return 1u << (exponent_bits + fraction_bits); }
};

template <class T>
T value_of_bytes(const void* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

inline long double value_at(const void* bytes, element_type t) {
    switch (t) {
        case element_type::boolean: return value_of_bytes<std::uint8_t>(bytes) != 0;
        case element_type::u8: return value_of_bytes<std::uint8_t>(bytes);
        case element_type::u16: return value_of_bytes<std::uint16_t>(bytes);
        case element_type::u32: return value_of_bytes<std::uint32_t>(bytes);
        case element_type::u64: return static_cast<long double>(value_of_bytes<std::uint64_t>(bytes));
        case element_type::i8: return value_of_bytes<std::int8_t>(bytes);
        case element_type::i16: return value_of_bytes<std::int16_t>(bytes);
        case element_type::i32: return value_of_bytes<std::int32_t>(bytes);
        case element_type::i64: return static_cast<long double>(value_of_bytes<std::int64_t>(bytes));
        case element_type::f32: return value_of_bytes<float>(bytes);
        case element_type::f64: return value_of_bytes<double>(bytes);
        default: break;
    }
    const small_format f = *small_format::of(t);
    const unsigned bits =
        size_of(t) == 1 ? value_of_bytes<std::uint8_t>(bytes) : unsigned{value_of_bytes<std::uint16_t>(bytes)};
    const long double magnitude = f.value(bits & (f.sign() - 1));
    return (bits & f.sign()) != 0 ? -magnitude : magnitude;
}

// All finite values of a format that are not negative, in order: the pattern is the position.
inline const std::vector<long double>& finite_values(element_type t) {
    static const std::vector<std::vector<long double>> all = [] {
        std::vector<std::vector<long double>> made(32);
        for (element_type each : kRealTypes) {
            const auto f = small_format::of(each);
            for (unsigned i = 0; f && i < f->sign() && std::isfinite(f->value(i)); ++i)
                made[static_cast<std::size_t>(each)].push_back(f->value(i));
        }
        return made;
    }();
    return all[static_cast<std::size_t>(t)];
}

// Bytes of an element, or nothing if any value will do. A NaN has no bits in particular.
struct expected_element {
    bool any = false, nan = false;
    std::uint64_t bits = 0;

    bool fits(const void* bytes, element_type t) const {
        if (any) return true;
        if (nan) return std::isnan(value_at(bytes, t));
        return std::memcmp(bytes, &bits, static_cast<std::size_t>(size_of(t))) == 0;
    }
};

template <class T>
expected_element exactly(T value) {
    expected_element e;
    std::memcpy(&e.bits, &value, sizeof value);
    return e;
}

template <class Integer>
expected_element integer_of(long double value, bool saturates, bool from_integer) {
    constexpr long double kLeast = std::numeric_limits<Integer>::min(), kMost = std::numeric_limits<Integer>::max();
    if (saturates) {
        if (std::isnan(value)) return exactly(Integer{0});
        const long double nearest = std::nearbyint(value);
        if (nearest < kLeast) return exactly(std::numeric_limits<Integer>::min());
        if (nearest > kMost) return exactly(std::numeric_limits<Integer>::max());
        return exactly(static_cast<Integer>(nearest));
    }
    if (from_integer)  // wraps
        return value < 0 ? exactly(static_cast<Integer>(static_cast<std::int64_t>(value)))
                         : exactly(static_cast<Integer>(static_cast<std::uint64_t>(value)));
    const long double whole = std::trunc(value);
    if (!(whole >= kLeast && whole <= kMost)) return {.any = true};
    return exactly(static_cast<Integer>(whole));
}

// The value in the type `t`. from_integer: it was an integer or a bool, and was not scaled.
inline expected_element converted_value(long double value, element_type t, bool saturates, bool from_integer) {
    switch (t) {
        case element_type::boolean: return exactly(static_cast<std::uint8_t>(value != 0));
        case element_type::u8: return integer_of<std::uint8_t>(value, saturates, from_integer);
        case element_type::u16: return integer_of<std::uint16_t>(value, saturates, from_integer);
        case element_type::u32: return integer_of<std::uint32_t>(value, saturates, from_integer);
        case element_type::u64: return integer_of<std::uint64_t>(value, saturates, from_integer);
        case element_type::i8: return integer_of<std::int8_t>(value, saturates, from_integer);
        case element_type::i16: return integer_of<std::int16_t>(value, saturates, from_integer);
        case element_type::i32: return integer_of<std::int32_t>(value, saturates, from_integer);
        case element_type::i64: return integer_of<std::int64_t>(value, saturates, from_integer);
        default: break;
    }
    if (std::isnan(value)) return {.nan = true};
    if (t == element_type::f32) return exactly(static_cast<float>(value));
    if (t == element_type::f64) return exactly(static_cast<double>(value));
    const small_format f = *small_format::of(t);
    const std::vector<long double>& all = finite_values(t);
    const unsigned sign = std::signbit(value) ? f.sign() : 0, last = static_cast<unsigned>(all.size()) - 1;
    const long double magnitude = std::fabs(value), step = all[last] - all[last - 1];
    // A number that is rounded to one step more than the largest is beyond it.
    const long double limit = all[last] + step / 2;
    const bool inside = magnitude < limit || (magnitude == limit && last % 2 == 0);
    if (!inside) {
        if (saturates && size_of(t) == 1) return exactly(static_cast<std::uint16_t>(sign | last));
        if (!f.infinities) return {.nan = true};
        return exactly(static_cast<std::uint16_t>(sign | (last + 1)));
    }
    if (magnitude >= all[last]) return exactly(static_cast<std::uint16_t>(sign | last));
    const auto above = static_cast<unsigned>(std::upper_bound(all.begin(), all.end(), magnitude) - all.begin());
    const unsigned below = above - 1;
    const long double to_below = magnitude - all[below], to_above = all[above] - magnitude;
    const bool up = to_above < to_below || (to_above == to_below && above % 2 == 0);
    return exactly(static_cast<std::uint16_t>(sign | (up ? above : below)));
}

// What scale and bias make of a value, in f64 or f32.
inline long double scaled_value(long double value, double scale, double bias, bool in_f64) {
    if (in_f64) return std::fma(static_cast<double>(value), scale, bias);
    return std::fmaf(static_cast<float>(value), static_cast<float>(scale), static_cast<float>(bias));
}

inline bool is_worked_out_in_64_bits(element_type t) {
    return t == element_type::f64 || t == element_type::u32 || t == element_type::i32 || t == element_type::u64 ||
           t == element_type::i64;
}
inline bool is_whole_type(element_type t) { return t >= element_type::boolean && t <= element_type::i64; }

// The element that a conversion makes. Without scale and bias, `scale` is nothing.
inline expected_element converted_element(const void* bytes, element_type from, element_type to, bool saturates,
                                          std::optional<std::pair<double, double>> scale_and_bias = {}) {
    if (from == to && !scale_and_bias) {  // a copy
        expected_element same;
        std::memcpy(&same.bits, bytes, static_cast<std::size_t>(size_of(from)));
        return same;
    }
    const long double value = value_at(bytes, from);
    if (!scale_and_bias) return converted_value(value, to, saturates, is_whole_type(from));
    const bool in_f64 = is_worked_out_in_64_bits(from) || is_worked_out_in_64_bits(to);
    return converted_value(scaled_value(value, scale_and_bias->first, scale_and_bias->second, in_f64), to, saturates,
                           false);
}

// Bits that say much about conversions: limits, ties, subnormals, zeros, infinities, NaN, ordinary numbers and any
// bits.
inline std::uint64_t drawn_bits(element_type t, std::mt19937_64& random) {
    const int bits = 8 * size_of(t);
    const std::uint64_t any = random();
    if (t == element_type::boolean) return any % 4 == 0 ? any >> 56 : any % 2;
    if (t == element_type::f32 || t == element_type::f64) {
        static const double kNear[] = {
            0.0,     1.0,    0.5,    1.5,    2.5,    127.5,     128.5,    255.5,    256,      448,      464,    480,
            57344,   61440,  65504,  65520,  65536,  32767.5,   65535,    0x1p-24,  0x1p-25,  0x1p-14,  0x1p-9, 0x1p-10,
            0x1p-16, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 3.3895e38, 0x1p-126, 0x1p-133, 0x1p-149, INFINITY, NAN};
        double value = kNear[random() % std::size(kNear)];
        const int kind = static_cast<int>(any % 8);
        if (kind < 3) value = std::ldexp(static_cast<double>(any >> 12), static_cast<int>(random() % 80) - 80);
        if (kind == 3) value = static_cast<double>(any >> 56);
        if (random() % 2 != 0) value = -value;
        if (t == element_type::f32) {
            auto near = static_cast<float>(value);
            if (kind == 4) near = std::nextafterf(near, random() % 2 != 0 ? INFINITY : -INFINITY);
            if (kind == 5) return any >> 32;
            return exactly(near).bits;
        }
        if (kind == 4) value = std::nextafter(value, random() % 2 != 0 ? INFINITY : -INFINITY);
        if (kind == 5) return any;
        return exactly(value).bits;
    }
    if (bits < 16 || any % 2 == 0) return bits == 64 ? random() : random() & ((std::uint64_t{1} << bits) - 1);
    // Integers of few bits, and near powers of two.
    const std::uint64_t small = random() >> (64 - bits) >> random() % static_cast<unsigned>(bits);
    const std::uint64_t near = (std::uint64_t{1} << random() % static_cast<unsigned>(bits)) + random() % 5 - 2;
    const std::uint64_t value = any % 4 == 1 ? small : any % 8 == 3 ? near : 0 - near;
    return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace cornerturn::tests
