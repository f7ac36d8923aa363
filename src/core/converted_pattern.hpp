// The values that the verifier writes into the source of a conversion, and those that it expects in the destination.
// Host and device code share this file.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/cast.hpp"
#include "core/pattern.hpp"

namespace cornerturn {

// The scales and biases of a conversion: none, one scale for all elements, or a scale and a bias for each index of an
// axis.
enum class factor_kind : std::uint8_t { none, one, each };

// How a problem's elements are converted.
struct element_conversion {
    element_cast cast{};
    factor_kind factors = factor_kind::none;
    int axis = 0;         // of the destination: the one of `each`
    float scale = 0.75f;  // of `one`

    friend bool operator==(const element_conversion&, const element_conversion&) = default;
};

// Numbers of the verifier that f32 holds exactly: 0.5 to 1.5, and -2 to 2.
CORNERTURN_HOST_DEVICE inline float pattern_scale(std::int64_t index, std::uint64_t seed) {
    return 0.5f + static_cast<float>(mix(static_cast<std::uint64_t>(index) + 2 * seed) >> 41) * 0x1p-23f;
}
CORNERTURN_HOST_DEVICE inline float pattern_bias(std::int64_t index, std::uint64_t seed) {
    return static_cast<float>(mix(~static_cast<std::uint64_t>(index) + 2 * seed) >> 42) * 0x1p-20f - 2;
}

// The bits of element `index` of a source. One in eight has any bits, or is special. The others have values that narrow
// types tell apart: random floats would nearly all be too large or too small for them. Half of them are 0 if they
// become bools.
template <element_type kType>
CORNERTURN_HOST_DEVICE std::uint64_t pattern_of_type(std::uint64_t index, std::uint64_t seed, bool to_bool) {
    constexpr int kBits = 8 * facts_of<kType>::size;
    using bits = std::conditional_t<
        kBits == 8, std::uint8_t,
        std::conditional_t<kBits == 16, std::uint16_t, std::conditional_t<kBits == 32, std::uint32_t, std::uint64_t>>>;
    const bits any = pattern<bits>(index, seed);
    const std::uint64_t choice = mix(index ^ seed << 7);
    if ((choice & 7) == 0) return with_specials(any);
    if (to_bool && (choice & 8) != 0) return 0;
    if constexpr (kType == element_type::boolean) {
        return any & 1;
    } else if constexpr (facts_of<kType>::floating && kBits > 8) {  // 2^-8 to 2^8
        constexpr int kFraction = kBits == 64 ? 52 : kBits == 32 ? 23 : facts_of<kType>::format.fraction_bits;
        constexpr int kExponent = kBits - 1 - kFraction;
        constexpr bits kMask = static_cast<bits>(((bits{1} << kExponent) - 1) << kFraction);
        const std::uint64_t exponent = (std::uint64_t{1} << (kExponent - 1)) - 9 + (choice >> 4 & 15);
        return static_cast<bits>((any & static_cast<bits>(~kMask)) | static_cast<bits>(exponent << kFraction));
    } else if constexpr (kBits > 8) {  // half of any number of digits, and half of 5 to 12
        const int digits = (choice & 16) != 0 ? 5 + static_cast<int>(choice >> 5 & 7)
                                              : 1 + (static_cast<int>(choice >> 5) & (kBits - 1));
        return static_cast<bits>(static_cast<storage_of_t<kType>>(any) >> (kBits - digits));
    } else {
        return any;
    }
}

// The bits that a conversion makes of the source's element with these bits.
CORNERTURN_HOST_DEVICE inline std::uint64_t converted_bits(const element_cast& cast, std::uint64_t source, double scale,
                                                           double bias) {
    any_value value;
    with_element_type(cast.from, [&]<element_type kFrom>() {
        storage_of_t<kFrom> element;
        const auto bits = static_cast<std::conditional_t<
            sizeof element == 1, std::uint8_t,
            std::conditional_t<sizeof element == 2, std::uint16_t,
                               std::conditional_t<sizeof element == 4, std::uint32_t, std::uint64_t>>>>(source);
        __builtin_memcpy(&element, &bits, sizeof element);
        value = value_of<kFrom>(element);
    });
    if (cast.scaled && is_worked_out_in_f64(cast)) {
        value = {fma(value.floating, scale, bias)};
    } else if (cast.scaled) {
        value = {fmaf(static_cast<float>(value.floating), static_cast<float>(scale), static_cast<float>(bias))};
    }
    std::uint64_t made = 0;
    with_element_type(cast.to, [&]<element_type kTo>() {
        const storage_of_t<kTo> element = element_from<kTo>(value, cast.saturates);
        __builtin_memcpy(&made, &element, sizeof element);
    });
    return made;
}

CORNERTURN_HOST_DEVICE inline bool is_nan(element_type type, std::uint64_t bits) {
    switch (type) {
        case element_type::f16: return (bits & 0x7fff) > 0x7c00;
        case element_type::bf16: return (bits & 0x7fff) > 0x7f80;
        case element_type::f32: return (bits & 0x7fffffff) > 0x7f800000;
        case element_type::f64: return (bits & ~std::uint64_t{0} >> 1) > 0x7ff0000000000000;
        case element_type::e4m3fn: return (bits & 0x7f) == 0x7f;
        case element_type::e5m2: return (bits & 0x7f) > 0x7c;
        default: return false;
    }
}

// Writes and recognises the elements of a conversion's source or destination, as typed_elements does. A NaN that was
// converted may have any bits.
struct converted_elements {
    std::uint64_t seed;
    bool poison, is_source;
    element_conversion how;
    int bytes;

    CORNERTURN_HOST_DEVICE int size() const { return bytes; }
    // `factor` is the element's index along the axis of the scales and biases.
    CORNERTURN_HOST_DEVICE std::uint64_t expected(std::uint64_t index, std::int64_t factor) const {
        std::uint64_t source = 0;
        with_element_type(how.cast.from, [&]<element_type kFrom>() {
            source = pattern_of_type<kFrom>(index, seed, how.cast.to == element_type::boolean);
        });
        if (is_source) return source;
        const bool each = how.factors == factor_kind::each;
        return converted_bits(how.cast, source, each ? pattern_scale(factor, seed) : how.scale,
                              each ? pattern_bias(factor, seed) : -0.0f);
    }
    CORNERTURN_HOST_DEVICE void put(unsigned char* at, std::uint64_t index, std::int64_t factor) const {
        const std::uint64_t bits = poison ? ~expected(index, factor) : expected(index, factor);
        for (int i = 0; i < bytes; ++i) at[i] = static_cast<unsigned char>(bits >> 8 * i);
    }
    CORNERTURN_HOST_DEVICE bool holds(const unsigned char* at, std::uint64_t index, std::int64_t factor) const {
        std::uint64_t found = 0;
        for (int i = 0; i < bytes; ++i) found |= static_cast<std::uint64_t>(at[i]) << 8 * i;
        std::uint64_t wanted = expected(index, factor);
        if (!poison && !is_source && is_nan(how.cast.to, wanted)) return is_nan(how.cast.to, found);
        if (poison) wanted = ~wanted & ~std::uint64_t{0} >> (64 - 8 * bytes);
        return found == wanted;
    }
};

}  // namespace cornerturn
