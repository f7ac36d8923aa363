// What a conversion does with one element: destination = cast(scale * source + bias). cornerturn/convert.hpp has the
// rules. Kernels, the host's engine and the verifier of values use these functions.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/host_device.hpp"
#include "cornerturn/element.hpp"

namespace cornerturn {

// From one type to another. A complex element is two elements that follow each other, so `from` and `to` are never
// complex.
struct element_cast {
    element_type from{}, to{};  // both 0: bytes are moved as they are
    bool saturates = true;      // always true if it makes no difference
    bool scaled = false;        // there is a scale or a bias

    constexpr bool converts() const { return from != element_type{}; }
    friend constexpr bool operator==(const element_cast&, const element_cast&) = default;
};

constexpr bool is_integer(element_type t) { return t >= element_type::u8 && t <= element_type::i64; }
constexpr bool is_floating(element_type t) { return t >= element_type::f16 && t <= element_type::e5m2; }
constexpr bool is_complex(element_type t) { return t >= element_type::c64; }
constexpr bool is_fp8(element_type t) { return t == element_type::e4m3fn || t == element_type::e5m2; }
// f64, and integers that f32 cannot hold: with these on either side, scale * source + bias is worked out in f64.
CORNERTURN_HOST_DEVICE constexpr bool is_wide(element_type t) {
    return t == element_type::f64 || t == element_type::u32 || t == element_type::i32 || t == element_type::u64 ||
           t == element_type::i64;
}
CORNERTURN_HOST_DEVICE constexpr bool is_worked_out_in_f64(element_cast c) { return is_wide(c.from) || is_wide(c.to); }

// The type that holds the bits of an element.
template <element_type kType>
struct storage_of {
    using type = std::conditional_t<
        kType == element_type::i8, std::int8_t,
        std::conditional_t<
            kType == element_type::i16, std::int16_t,
            std::conditional_t<
                kType == element_type::i32, std::int32_t,
                std::conditional_t<
                    kType == element_type::i64, std::int64_t,
                    std::conditional_t<
                        kType == element_type::f32, float,
                        std::conditional_t<
                            kType == element_type::f64, double,
                            std::conditional_t<size_of(kType) == 1, std::uint8_t,
                                               std::conditional_t<size_of(kType) == 2, std::uint16_t,
                                                                  std::conditional_t<size_of(kType) == 4, std::uint32_t,
                                                                                     std::uint64_t>>>>>>>>>;
};
template <element_type kType>
using storage_of_t = typename storage_of<kType>::type;

// The narrow floating types.
struct float_format {
    int exponent_bits, fraction_bits;
    bool has_infinity;

    CORNERTURN_HOST_DEVICE constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    CORNERTURN_HOST_DEVICE constexpr unsigned sign() const { return 1u << (exponent_bits + fraction_bits); }
    CORNERTURN_HOST_DEVICE constexpr unsigned infinity() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
    CORNERTURN_HOST_DEVICE constexpr unsigned nan() const {
        return has_infinity ? infinity() | 1u << (fraction_bits - 1) : sign() - 1;
    }
    CORNERTURN_HOST_DEVICE constexpr unsigned largest() const { return has_infinity ? infinity() - 1 : sign() - 2; }
};
constexpr float_format format_of(element_type t) {
    switch (t) {
        case element_type::f16: return {5, 10, true};
        case element_type::bf16: return {8, 7, true};
        case element_type::e4m3fn: return {4, 3, false};
        default: return {5, 2, true};  // e5m2
    }
}

// What kernels want to know of a type: device code must not call host functions, not even for constants.
template <element_type kType>
struct facts_of {
    static constexpr int size = size_of(kType);
    static constexpr bool integer = is_integer(kType), floating = is_floating(kType), fp8 = is_fp8(kType),
                          wide = is_wide(kType);
    static constexpr float_format format = format_of(kType);
};

// The value of a narrow float, which f32 holds exactly.
template <element_type kType>
CORNERTURN_HOST_DEVICE_INLINE constexpr float widened(unsigned bits) {
    constexpr float_format f = facts_of<kType>::format;
    if constexpr (kType == element_type::bf16) {
        return __builtin_bit_cast(float, bits << 16);
    } else {
        const unsigned magnitude = bits & (f.sign() - 1), sign = (bits & f.sign()) == 0 ? 0 : 1u << 31;
        const bool special = f.has_infinity ? magnitude >= f.infinity() : magnitude == f.nan();
        if (special) {
            const bool nan = !f.has_infinity || magnitude > f.infinity();
            return __builtin_bit_cast(float, sign | (nan ? 0x7fc00000u : 0x7f800000u));
        }
        // The exponent is moved to where f32 has it, and corrected by a multiplication. It is right for subnormals too.
        const float shifted = __builtin_bit_cast(float, magnitude << (23 - f.fraction_bits));
        const float corrected = shifted * __builtin_bit_cast(float, static_cast<unsigned>(127 + 127 - f.bias()) << 23);
        return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, corrected) | sign);
    }
}

// Rounds an f64 to the nearest narrow float, ties to even. What is beyond the largest number becomes that number if it
// saturates, else infinity, or NaN in a format without infinities. saturates: infinities too.
template <element_type kType>
CORNERTURN_HOST_DEVICE_INLINE constexpr unsigned narrowed(double value, bool saturates) {
    constexpr float_format f = facts_of<kType>::format;
    const auto bits = __builtin_bit_cast(std::uint64_t, value);
    const unsigned sign = bits >> 63 != 0 ? f.sign() : 0;
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << 52;
    if (magnitude > kInfinity) return sign | f.nan();
    const unsigned beyond = saturates ? f.largest() : f.has_infinity ? f.infinity() : f.nan();
    const int exponent = static_cast<int>(magnitude >> 52) - 1023 + f.bias();  // as the format counts it
    if (exponent >= 1 << f.exponent_bits) return sign | beyond;
    std::uint64_t fraction = magnitude & ((std::uint64_t{1} << 52) - 1);
    int dropped = 52 - f.fraction_bits;
    unsigned kept = 0;
    if (exponent >= 1) {
        kept = static_cast<unsigned>(exponent) << f.fraction_bits;
    } else {                                           // subnormal
        if (exponent < -f.fraction_bits) return sign;  // less than half of the smallest number
        fraction |= std::uint64_t{1} << 52;
        dropped += 1 - exponent;
    }
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1), rest = fraction & (2 * half - 1);
    kept += static_cast<unsigned>(fraction >> dropped);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    return sign | (kept > f.largest() ? beyond : kept);
}

// The integer nearest to a value, ties to even, or the nearest integer that the type has. NaN becomes 0.
template <class Integer>
CORNERTURN_HOST_DEVICE_INLINE constexpr Integer nearest_integer(double value) {
    constexpr bool kSigned = std::is_signed_v<Integer>;
    constexpr int kBits = 8 * static_cast<int>(sizeof(Integer)) - (kSigned ? 1 : 0);
    constexpr double kBeyond = 2.0 * static_cast<double>(std::uint64_t{1} << (kBits - 1));  // the largest one + 1
    constexpr Integer kMost = static_cast<Integer>(~std::uint64_t{0} >> (64 - kBits));
    constexpr Integer kLeast = kSigned ? static_cast<Integer>(-kMost - 1) : Integer{0};
    if (!(value == value)) return 0;
    if (value >= kBeyond) return kMost;
    if (value <= static_cast<double>(kLeast)) return kLeast;
    // Below 2^52, the sum has no bits for fractions.
    constexpr double kNoFractions = 4503599627370496.0;
    if (value < kNoFractions && value > -kNoFractions) {
        const double sign = value < 0 ? -kNoFractions : kNoFractions;
        value = (value + sign) - sign;
    }
    if (value >= kBeyond) return kMost;
    return static_cast<Integer>(value);
}

// An element of any type but complex ones: an integer of 64 bits, or an f64, which holds all others exactly.
struct any_value {
    enum class kind : std::uint8_t { floating, is_signed, is_unsigned };
    double floating = 0;
    std::uint64_t integer = 0;
    kind is = kind::floating;
};

template <element_type kType>
CORNERTURN_HOST_DEVICE_INLINE constexpr any_value value_of(storage_of_t<kType> bits) {
    if constexpr (kType == element_type::boolean) {
        return {bits != 0 ? 1.0 : 0.0};
    } else if constexpr (kType == element_type::i64) {
        return {static_cast<double>(bits), static_cast<std::uint64_t>(bits), any_value::kind::is_signed};
    } else if constexpr (kType == element_type::u64) {
        return {static_cast<double>(bits), bits, any_value::kind::is_unsigned};
    } else if constexpr (facts_of<kType>::integer || kType == element_type::f32 || kType == element_type::f64) {
        return {static_cast<double>(bits)};
    } else {
        return {widened<kType>(bits)};
    }
}

// An integer of 64 bits as an f64 that every narrower float rounds as it would round the integer: if bits are lost, the
// last one that is kept is set.
CORNERTURN_HOST_DEVICE_INLINE constexpr double rounded_to_odd(std::uint64_t magnitude) {
    if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
    return static_cast<double>((magnitude | ((magnitude & 0x7ff) != 0 ? 0x800 : 0)) & ~std::uint64_t{0x7ff});
}

template <element_type kType>
CORNERTURN_HOST_DEVICE_INLINE constexpr storage_of_t<kType> element_from(double value, bool saturates) {
    using storage = storage_of_t<kType>;
    if constexpr (kType == element_type::boolean) {
        return value != 0 ? 1 : 0;
    } else if constexpr (kType == element_type::f64) {
        return value;
    } else if constexpr (kType == element_type::f32) {
        return static_cast<float>(value);
    } else if constexpr (facts_of<kType>::floating) {
        return static_cast<storage>(narrowed<kType>(value, saturates && facts_of<kType>::fp8));
    } else {
        if (saturates) return nearest_integer<storage>(value);
        // Truncated. Beyond the type's range any result will do, but it must be the same everywhere and never trap.
        if constexpr (kType == element_type::u64) {
            return value >= 0x1p63 && value < 0x1p64
                       ? static_cast<std::uint64_t>(value - 0x1p63) + (std::uint64_t{1} << 63)
                   : value < 0x1p63 && value >= -0x1p63 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                                        : 0;
        } else {
            return value < 0x1p63 && value >= -0x1p63 ? static_cast<storage>(static_cast<std::int64_t>(value)) : 0;
        }
    }
}

// Without scale and bias: one conversion, with one rounding.
template <element_type kTo>
CORNERTURN_HOST_DEVICE_INLINE constexpr storage_of_t<kTo> element_from(const any_value& v, bool saturates) {
    using storage = storage_of_t<kTo>;
    if (v.is == any_value::kind::floating) return element_from<kTo>(v.floating, saturates);
    const bool negative = v.is == any_value::kind::is_signed && static_cast<std::int64_t>(v.integer) < 0;
    if constexpr (facts_of<kTo>::integer) {
        if (!saturates) return static_cast<storage>(v.integer);
        constexpr int kBits = 8 * static_cast<int>(sizeof(storage)) - (std::is_signed_v<storage> ? 1 : 0);
        constexpr storage kMost = static_cast<storage>(~std::uint64_t{0} >> (64 - kBits));
        constexpr storage kLeast = std::is_signed_v<storage> ? static_cast<storage>(-kMost - 1) : storage{0};
        if (negative) {
            const auto value = static_cast<std::int64_t>(v.integer);
            return !std::is_signed_v<storage> || value < static_cast<std::int64_t>(kLeast)
                       ? kLeast
                       : static_cast<storage>(value);
        }
        return v.integer > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<storage>(v.integer);
    } else if constexpr (kTo == element_type::f64) {
        return v.floating;
    } else {
        const double magnitude = rounded_to_odd(negative ? 0 - v.integer : v.integer);
        return element_from<kTo>(negative ? -magnitude : magnitude, saturates);
    }
}

// Calls use.template operator()<kType>() for the type.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // `use` may be of either side
#endif
template <class Use>
CORNERTURN_HOST_DEVICE_INLINE void with_element_type(element_type type, Use use) {
    switch (type) {
        case element_type::boolean: return use.template operator()<element_type::boolean>();
        case element_type::u8: return use.template operator()<element_type::u8>();
        case element_type::u16: return use.template operator()<element_type::u16>();
        case element_type::u32: return use.template operator()<element_type::u32>();
        case element_type::u64: return use.template operator()<element_type::u64>();
        case element_type::i8: return use.template operator()<element_type::i8>();
        case element_type::i16: return use.template operator()<element_type::i16>();
        case element_type::i32: return use.template operator()<element_type::i32>();
        case element_type::i64: return use.template operator()<element_type::i64>();
        case element_type::f16: return use.template operator()<element_type::f16>();
        case element_type::bf16: return use.template operator()<element_type::bf16>();
        case element_type::f32: return use.template operator()<element_type::f32>();
        case element_type::f64: return use.template operator()<element_type::f64>();
        case element_type::e4m3fn: return use.template operator()<element_type::e4m3fn>();
        case element_type::e5m2: return use.template operator()<element_type::e5m2>();
        default: return;  // complex elements are converted part by part
    }
}

}  // namespace cornerturn
