/// @file
/// The element types of conversions: cornerturn/convert.hpp and cornerturn/cuda/convert.hpp.
///
/// C++ has no types for f16, bf16 and the two fp8 formats. The types f16, bf16, e4m3fn and e5m2 below hold their bits.
/// The types of CUDA's headers can be used too, and so can those of the compiler and of C++23:
///
/// | element_type | types of C++ |
/// |---|---|
/// | boolean | bool |
/// | u8, i8, u16, i16, u32, i32, u64, i64 | the integers of that size, std::byte for u8 |
/// | f16 | cornerturn::f16, __half, _Float16, std::float16_t |
/// | bf16 | cornerturn::bf16, __nv_bfloat16, __bf16, std::bfloat16_t |
/// | f32, f64 | float, double |
/// | e4m3fn, e5m2 | cornerturn::e4m3fn and e5m2, __nv_fp8_e4m3 and __nv_fp8_e5m2 |
/// | c64, c128 | std::complex<float>, std::complex<double> |
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// CUDA's types, which need no header of CUDA here.
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace cornerturn {

/// The type of an element. The numbers are those of cornerturn_element in cornerturn/cornerturn.h.
enum class element_type : std::uint8_t {
    boolean = 1,  ///< One byte. Any byte but 0 is true.
    u8,           ///< Unsigned integers of 8 bits,
    u16,          ///< 16 bits,
    u32,          ///< 32 bits,
    u64,          ///< and 64 bits.
    i8,           ///< Signed integers of 8 bits,
    i16,          ///< 16 bits,
    i32,          ///< 32 bits,
    i64,          ///< and 64 bits.
    f16,          ///< IEEE 754 binary16.
    bf16,         ///< The upper half of an f32.
    f32,          ///< IEEE 754 binary32.
    f64,          ///< IEEE 754 binary64.
    e4m3fn,       ///< OCP FP8 E4M3: no infinities; the largest number is 448.
    e5m2,         ///< OCP FP8 E5M2: the largest number is 57344.
    c64,          ///< Two f32: the real part, then the imaginary part.
    c128,         ///< The same of two f64.
};

/// @param type A type.
/// @return The bytes of an element of this type; 0 if there is no such type.
constexpr int size_of(element_type type) {
    switch (type) {
        case element_type::boolean:
        case element_type::u8:
        case element_type::i8:
        case element_type::e4m3fn:
        case element_type::e5m2: return 1;
        case element_type::u16:
        case element_type::i16:
        case element_type::f16:
        case element_type::bf16: return 2;
        case element_type::u32:
        case element_type::i32:
        case element_type::f32: return 4;
        case element_type::u64:
        case element_type::i64:
        case element_type::f64:
        case element_type::c64: return 8;
        case element_type::c128: return 16;
    }
    return 0;
}

/// @param type A type.
/// @return Its name as the program and the messages have it, such as "bf16"; "bool" for boolean; "" if there is no such
/// type.
constexpr const char* name_of(element_type type) {
    constexpr const char* kNames[] = {"",    "bool", "u8",   "u16", "u32", "u64",    "i8",   "i16", "i32",
                                      "i64", "f16",  "bf16", "f32", "f64", "e4m3fn", "e5m2", "c64", "c128"};
    const auto number = static_cast<std::size_t>(type);
    return number < sizeof kNames / sizeof *kNames ? kNames[number] : "";
}

/// An element of 16 bits: IEEE 754 binary16.
struct f16 {
    std::uint16_t bits;  ///< The sign, 5 bits of the exponent, 10 of the fraction.
};
/// An element of 16 bits: the upper half of an f32.
struct bf16 {
    std::uint16_t bits;  ///< The sign, 8 bits of the exponent, 7 of the fraction.
};
/// An element of 8 bits: OCP FP8 E4M3.
struct e4m3fn {
    std::uint8_t bits;  ///< The sign, 4 bits of the exponent, 3 of the fraction.
};
/// An element of 8 bits: OCP FP8 E5M2.
struct e5m2 {
    std::uint8_t bits;  ///< The sign, 5 bits of the exponent, 2 of the fraction.
};

namespace detail {
template <class T>
constexpr element_type find_element_type() {
    if constexpr (std::is_same_v<T, bool>) {
        return element_type::boolean;
    } else if constexpr (std::is_same_v<T, std::byte>) {
        return element_type::u8;
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
        constexpr auto kFirst = std::is_unsigned_v<T> ? element_type::u8 : element_type::i8;
        constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<element_type>(static_cast<int>(kFirst) + kLog);
    } else if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, __half>) {
        return element_type::f16;
    } else if constexpr (std::is_same_v<T, bf16> || std::is_same_v<T, __nv_bfloat16>) {
        return element_type::bf16;
    } else if constexpr (std::is_same_v<T, float>) {
        return element_type::f32;
    } else if constexpr (std::is_same_v<T, double>) {
        return element_type::f64;
    } else if constexpr (std::is_same_v<T, e4m3fn> || std::is_same_v<T, __nv_fp8_e4m3>) {
        return element_type::e4m3fn;
    } else if constexpr (std::is_same_v<T, e5m2> || std::is_same_v<T, __nv_fp8_e5m2>) {
        return element_type::e5m2;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return element_type::c64;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        return element_type::c128;
#if defined(__FLT16_MANT_DIG__) && !defined(__CUDACC__)  // also std::float16_t
    } else if constexpr (std::is_same_v<T, _Float16>) {
        return element_type::f16;
#endif
#if defined(__BFLT16_MANT_DIG__) && !defined(__CUDACC__)
    } else if constexpr (std::is_same_v<T, __bf16>) {
        return element_type::bf16;
#endif
    } else {
        return element_type{};
    }
}

// The element type of T. A type that converts to nothing here does not compile.
template <class T>
constexpr element_type element_type_of() {
    constexpr element_type kFound = find_element_type<std::remove_const_t<T>>();
    static_assert(kFound != element_type{},
                  "cornerturn: conversions are between the types that cornerturn/element.hpp lists");
    return kFound;
}
}  // namespace detail

}  // namespace cornerturn
