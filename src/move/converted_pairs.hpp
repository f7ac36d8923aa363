// The pairs of types that kernels are made for: those that people use. All others go through convert_units.
#pragma once

#include <iterator>

#include "core/cast.hpp"

namespace cornerturn::moves {

struct converted_pair {
    element_type from, to;
};

inline constexpr converted_pair kConvertedPairs[] = {
    // Pictures and other data, to floats and back.
    {element_type::u8, element_type::f32},
    {element_type::u8, element_type::f16},
    {element_type::u8, element_type::bf16},
    {element_type::i8, element_type::f32},
    {element_type::i8, element_type::bf16},
    {element_type::u16, element_type::f32},
    {element_type::i16, element_type::f32},
    {element_type::i32, element_type::f32},
    {element_type::boolean, element_type::f32},
    {element_type::f32, element_type::u8},
    {element_type::f32, element_type::i8},
    {element_type::f16, element_type::u8},
    // Between floats.
    {element_type::f32, element_type::bf16},
    {element_type::f32, element_type::f16},
    {element_type::f32, element_type::f64},
    {element_type::f64, element_type::f32},
    {element_type::bf16, element_type::f32},
    {element_type::f16, element_type::f32},
    {element_type::f16, element_type::bf16},
    {element_type::bf16, element_type::f16},
    // FP8.
    {element_type::f32, element_type::e4m3fn},
    {element_type::f16, element_type::e4m3fn},
    {element_type::bf16, element_type::e4m3fn},
    {element_type::f32, element_type::e5m2},
    {element_type::bf16, element_type::e5m2},
    {element_type::e4m3fn, element_type::f32},
    {element_type::e4m3fn, element_type::f16},
    {element_type::e4m3fn, element_type::bf16},
    {element_type::e5m2, element_type::bf16},
    // Scaled alone.
    {element_type::f32, element_type::f32},
    {element_type::f16, element_type::f16},
    {element_type::bf16, element_type::bf16},
    // Integers.
    {element_type::i64, element_type::i32},
    {element_type::i32, element_type::i64},
};
inline constexpr int kPairs = static_cast<int>(std::size(kConvertedPairs));

// The number of a pair; -1 if it has no kernels of its own.
constexpr int pair_of(const element_cast& c) {
    for (int i = 0; i < kPairs; ++i) {
        if (kConvertedPairs[i].from == c.from && kConvertedPairs[i].to == c.to) return c.saturates ? i : -1;
    }
    return -1;
}

// Tiles of these pairs are converted when they are loaded. Where elements become wider, shared memory holds the
// narrower ones, and they are converted when they are stored.
constexpr bool converts_at_load(const converted_pair& p) {
    return size_of(p.from) >= size_of(p.to) && size_of(p.to) <= 4;
}
// The most bytes of a source's element for each of the destination's, of those.
consteval int most_ratio() {
    int most = 1;
    for (const converted_pair& p : kConvertedPairs) {
        if (const int ratio = size_of(p.from) / size_of(p.to); converts_at_load(p) && ratio > most) most = ratio;
    }
    return most;
}
// Pictures and sound, whose pixels or samples have few channels: matrices of few columns.
inline constexpr int kMostConvertedColumns = 4;
constexpr bool has_few_columns(const converted_pair& p) {
    return (p.from == element_type::u8 || p.from == element_type::i16 || p.from == element_type::u16) &&
           (p.to == element_type::f32 || p.to == element_type::f16 || p.to == element_type::bf16);
}

}  // namespace cornerturn::moves
