// What the file of a conversion rung needs besides its kernel: pairs of types, and scales and biases.
#pragma once

#include "device/casts.hpp"
#include "ops/convert/operation.hpp"
#include "ops/copy/tile_rung.hpp"

namespace CORNERTURN_KERNELS {

// Calls Rung::run<from, to>(work...) for the pairs that the rungs convert. All of them are worked out in f32.
template <class Rung, class... Work>
void run_with_pair(const element_cast& cast, const Work&... work) {
    const auto is = [&](element_type from, element_type to) { return cast.from == from && cast.to == to; };
    if (is(element_type::u8, element_type::f32))
        return Rung::template run<element_type::u8, element_type::f32>(work...);
    if (is(element_type::u8, element_type::f16))
        return Rung::template run<element_type::u8, element_type::f16>(work...);
    if (is(element_type::f32, element_type::bf16))
        return Rung::template run<element_type::f32, element_type::bf16>(work...);
    if (is(element_type::bf16, element_type::f32))
        return Rung::template run<element_type::bf16, element_type::f32>(work...);
    if (is(element_type::bf16, element_type::e4m3fn))
        return Rung::template run<element_type::bf16, element_type::e4m3fn>(work...);
    decline("it converts u8 to f32 and f16, f32 to bf16 and back, and bf16 to e4m3fn: convert/production converts all");
}

// Scales and biases of the lab: numbers, or f32 in memory.
struct rung_factors {
    bool scaled;
    const float *scales, *biases;  // null: the numbers
    float scale, bias;

    explicit rung_factors(const strided_work& w)
        : scaled(w.cast.scaled),
          scales(reinterpret_cast<const float*>(w.by.scales.address)),
          biases(reinterpret_cast<const float*>(w.by.biases.address)),
          scale(static_cast<float>(w.by.scales.number)),
          bias(static_cast<float>(w.by.biases.number)) {}

    // `at`: which scale and which bias.
    __device__ __forceinline__ float apply(float value, std::int64_t at) const {
        if (!scaled) return value;
        return scales == nullptr ? multiply_add(value, scale, bias) : multiply_add(value, scales[at], biases[at]);
    }
};

template <element_type kFrom>
__device__ __forceinline__ float value_in_f32(storage_of_t<kFrom> element) {
    if constexpr (facts_of<kFrom>::floating && facts_of<kFrom>::size < 4) {
        return widened_float<kFrom>(element);
    } else {
        return static_cast<float>(element);
    }
}

// One element.
template <element_type kFrom, element_type kTo>
__device__ __forceinline__ storage_of_t<kTo> converted_element(storage_of_t<kFrom> element, const rung_factors& by,
                                                               std::int64_t at) {
    return element_from<kTo>(static_cast<double>(by.apply(value_in_f32<kFrom>(element), at)), true);
}

}  // namespace CORNERTURN_KERNELS
