// Conversions of units on their way from the load to the store: destination = cast(scale * source + bias).
//
// A pair of types that people use has a `converted<from, to>`, which families take in place of `moved`. Its arithmetic
// is in registers: a whole vector of the destination at a time. core/cast.hpp says what the result must be, and makes
// it where the GPU has no instruction.
#pragma once

#include "core/cast.hpp"
#include "device/casts.hpp"
#include "move/kernels/gather.hpp"
#include "move/kernels/work.hpp"

namespace CORNERTURN_KERNELS {

using moves::cast_work;

// Scale number `at`, or bias number `at`.
template <class Real>
__device__ __forceinline__ Real factor_at(const moves::factors_work& f, std::int64_t at) {
    if (f.data == nullptr) return static_cast<Real>(f.number);
    if (f.one) at = 0;
    return f.doubles ? static_cast<Real>(static_cast<const double*>(f.data)[at])
                     : static_cast<Real>(static_cast<const float*>(f.data)[at]);
}

template <element_type kFrom, element_type kTo>
struct converted {
    static constexpr int kUnit = facts_of<kTo>::size, kSourceUnit = facts_of<kFrom>::size,
                         kPerVector = kVectorBytes / kUnit;
    static constexpr bool kWide = facts_of<kFrom>::wide || facts_of<kTo>::wide;
    using real = std::conditional_t<kWide, double, float>;
    using source_unit = storage_of_t<kFrom>;
    using bits = storage_t<kUnit>;

    const cast_work& w;
    std::int64_t first;  // the tile's first scale and bias

    __device__ __forceinline__ int factor_along(const moves::tile_digit* axis, const moves::tile_digit* axes,
                                                unsigned at) const {
        return axis - axes == w.row_axis ? static_cast<int>(at) * w.row_step : 0;
    }

    // `factor`: how far the line is from `first`. `j`: the vector's first unit in its line.
    __device__ __forceinline__ uint4 gather(const byte* image, const entries_of_vector<kUnit>& e, int factor,
                                            unsigned j) const {
        source_unit units[kPerVector];
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) units[k] = value_at<source_unit>(image + e.at[k]);
        if (!w.scaled) return direct(units);
        real values[kPerVector];
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) values[k] = real_of(units[k]);
        if (w.line_step == 0) {
            const real scale = scale_at(first + factor), bias = bias_at(first + factor);
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) values[k] = multiply_add(values[k], scale, bias);
        } else {
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) values[k] = scaled(values[k], factor, j + static_cast<unsigned>(k));
        }
        return packed(values);
    }
    __device__ __forceinline__ bits unit(const byte* from, int factor, unsigned j) const {
        const auto unit = value_at<source_unit>(from);
        const storage_of_t<kTo> result =
            w.scaled ? element_from<kTo>(static_cast<double>(scaled(real_of(unit), factor, j)), true)
                     : element_from<kTo>(value_of<kFrom>(unit), true);
        return as_bits(result);
    }

private:
    __device__ __forceinline__ real scale_at(std::int64_t at) const { return factor_at<real>(w.scales, at); }
    __device__ __forceinline__ real bias_at(std::int64_t at) const { return factor_at<real>(w.biases, at); }
    __device__ __forceinline__ real scaled(real value, int factor, unsigned j) const {
        std::int64_t at = first + factor;
        if (w.line_step != 0) {
            const unsigned steps = w.by_inner.quotient(j);
            at += static_cast<std::int64_t>(steps - w.by_steps.quotient(steps) * w.by_steps.d) * w.line_step;
        }
        return multiply_add(value, scale_at(at), bias_at(at));
    }
    static __device__ __forceinline__ real real_of(source_unit unit) {
        if constexpr (kFrom == element_type::boolean) {
            return unit != 0 ? real{1} : real{0};
        } else if constexpr (facts_of<kFrom>::floating && facts_of<kFrom>::size < 4) {
            return widened_float<kFrom>(unit);
        } else {
            return static_cast<real>(unit);
        }
    }
    static __device__ __forceinline__ bits as_bits(storage_of_t<kTo> value) {
        static_assert(sizeof value == sizeof(bits));
        bits result;
        __builtin_memcpy(&result, &value, sizeof result);
        return result;
    }

    static __device__ __forceinline__ uint4 direct(const source_unit (&units)[kPerVector]) {
        if constexpr (kWide) {
            storage_of_t<kTo> results[kPerVector];
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) results[k] = one(units[k]);
            return vector_of(results);
        } else {
            float values[kPerVector];
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) values[k] = real_of(units[k]);
            return packed(values);
        }
    }
    static __device__ __forceinline__ storage_of_t<kTo> one(source_unit unit) {
        constexpr bool kToFloat = kTo == element_type::f32 || kTo == element_type::f64;
        constexpr bool kToWider = facts_of<kFrom>::integer && facts_of<kTo>::integer && kSourceUnit < kUnit &&
                                  std::is_signed_v<storage_of_t<kTo>>;
        if constexpr (kToFloat || kToWider) {
            return static_cast<storage_of_t<kTo>>(unit);
        } else {
            return element_from<kTo>(value_of<kFrom>(unit), true);
        }
    }
    static __device__ __forceinline__ uint4 packed(const real (&values)[kPerVector]) {
        if constexpr (kWide || kTo == element_type::f32 || kTo == element_type::boolean || facts_of<kTo>::size > 2) {
            storage_of_t<kTo> results[kPerVector];
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) {
                if constexpr (kTo == element_type::f32 || kTo == element_type::f64) {
                    results[k] = static_cast<storage_of_t<kTo>>(values[k]);
                } else {
                    results[k] = element_from<kTo>(static_cast<double>(values[k]), true);
                }
            }
            return vector_of(results);
        } else {
            unsigned words[4];
            CORNERTURN_UNROLL
            for (int i = 0; i < 4; ++i) {
                if constexpr (kUnit == 2) {
                    words[i] = narrowed_pair<kTo>(values[2 * i], values[2 * i + 1]);
                } else {
                    words[i] = narrowed_pair<kTo>(values[4 * i], values[4 * i + 1]) |
                               narrowed_pair<kTo>(values[4 * i + 2], values[4 * i + 3]) << 16;
                }
            }
            return make_uint4(words[0], words[1], words[2], words[3]);
        }
    }
    static __device__ __forceinline__ uint4 vector_of(const storage_of_t<kTo> (&results)[kPerVector]) {
        unsigned words[4] = {};
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) {
            if constexpr (kUnit == 8) {
                const uint2 both = as_bits(results[k]);
                words[2 * k] = both.x, words[2 * k + 1] = both.y;
            } else {
                words[k * kUnit / 4] |= static_cast<unsigned>(as_bits(results[k])) << k * kUnit % 4 * 8;
            }
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
};

}  // namespace CORNERTURN_KERNELS
