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

    // So many elements of the destination that follow each other.
    template <int kCount>
    struct vector_of {
        unsigned words[kCount * kUnit / 4];
    };

    // `factor`: how far the line is from `first`. `j`: the vector's first unit in its line.
    __device__ __forceinline__ uint4 gather(const byte* image, const entries_of_vector<kUnit>& e, int factor,
                                            unsigned j) const {
        source_unit units[kPerVector];
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) units[k] = value_at<source_unit>(image + e.at[k]);
        const vector_of<kPerVector> v = made(
            units, [&](int k) { return place_in_line(factor, j + static_cast<unsigned>(k)); }, w.line_step != 0);
        return make_uint4(v.words[0], v.words[1], v.words[2], v.words[3]);
    }
    __device__ __forceinline__ bits unit(const byte* from, int factor, unsigned j) const {
        return made_one(from, place_in_line(factor, j));
    }

    // A vector of units from the source, and its first ones, whose scales and biases are col_step apart from number
    // `at` on.
    __device__ __forceinline__ uint4 vector_at(const byte* from, read_policy read, std::int64_t at) const {
        constexpr int kBytes = kPerVector * kSourceUnit, kAtOnce = kBytes < kVectorBytes ? kBytes : kVectorBytes;
        using part = storage_t<kAtOnce>;
        part parts[kBytes / kAtOnce];
        CORNERTURN_UNROLL
        for (int i = 0; i < kBytes / kAtOnce; ++i) {
            if constexpr (kAtOnce >= 4) {
                parts[i] = read.load(reinterpret_cast<const part*>(from) + i);
            } else {
                parts[i] = value_at<part>(from);
            }
        }
        source_unit units[kPerVector];
        __builtin_memcpy(units, parts, sizeof units);
        return vector_from(units, at);
    }
    __device__ __forceinline__ uint4 first_at(const byte* from, int count, std::int64_t at) const {
        source_unit units[kPerVector] = {};
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) {
            if (k < count) units[k] = value_at<source_unit>(from + k * kSourceUnit);
        }
        return vector_from(units, at, count);
    }

    // Units of a run, from position `begin` on.
    template <int kCount>
    __device__ __forceinline__ vector_of<kCount> run(const source_unit (&units)[kCount], std::int64_t begin) const {
        return made(
            units, [&](int k) { return first + (begin + k) * w.line_step; }, w.line_step != 0);
    }
    __device__ __forceinline__ bits one_of_run(const byte* from, std::int64_t at) const {
        return made_one(from, first + at * w.line_step);
    }

private:
    // Beyond `count` units, no scale or bias is read.
    __device__ __forceinline__ uint4 vector_from(const source_unit (&units)[kPerVector], std::int64_t at,
                                                 int count = kPerVector) const {
        const vector_of<kPerVector> v = made(
            units, [&](int k) { return at + static_cast<std::int64_t>(k < count ? k : 0) * w.col_step; },
            w.col_step != 0);
        return make_uint4(v.words[0], v.words[1], v.words[2], v.words[3]);
    }

    // Which scale and bias unit j of a line has.
    __device__ __forceinline__ std::int64_t place_in_line(int factor, unsigned j) const {
        std::int64_t at = first + factor;
        if (w.line_step != 0) {
            const unsigned steps = w.by_inner.quotient(j);
            at += static_cast<std::int64_t>(steps - w.by_steps.quotient(steps) * w.by_steps.d) * w.line_step;
        }
        return at;
    }
    __device__ __forceinline__ real scaled(real value, std::int64_t at) const {
        return multiply_add(value, factor_at<real>(w.scales, at), factor_at<real>(w.biases, at));
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
    __device__ __forceinline__ bits made_one(const byte* from, std::int64_t at) const {
        const auto unit = value_at<source_unit>(from);
        return as_bits(w.scaled ? rounded(scaled(real_of(unit), at)) : direct(unit));
    }

    // place(k): which scale and bias unit k has. each: they differ.
    template <int kCount, class Place>
    __device__ __forceinline__ vector_of<kCount> made(const source_unit (&units)[kCount], Place place,
                                                      bool each) const {
        if (kWide && !w.scaled) {
            storage_of_t<kTo> results[kCount];
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) results[k] = direct(units[k]);
            return joined(results);
        }
        real values[kCount];
        CORNERTURN_UNROLL
        for (int k = 0; k < kCount; ++k) values[k] = real_of(units[k]);
        if (w.scaled && !each) {
            const std::int64_t at = place(0);
            const real scale = factor_at<real>(w.scales, at), bias = factor_at<real>(w.biases, at);
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) values[k] = multiply_add(values[k], scale, bias);
        } else if (w.scaled) {
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) values[k] = scaled(values[k], place(k));
        }
        return packed(values);
    }
    static __device__ __forceinline__ storage_of_t<kTo> direct(source_unit unit) {
        constexpr bool kToFloat = kTo == element_type::f32 || kTo == element_type::f64;
        constexpr bool kToWider = facts_of<kFrom>::integer && facts_of<kTo>::integer && kSourceUnit < kUnit &&
                                  std::is_signed_v<storage_of_t<kTo>>;
        if constexpr (kToFloat && !(facts_of<kFrom>::floating && facts_of<kFrom>::size < 4) &&
                      kFrom != element_type::boolean) {
            return static_cast<storage_of_t<kTo>>(unit);
        } else if constexpr (kToWider) {
            return static_cast<storage_of_t<kTo>>(unit);
        } else {
            return element_from<kTo>(value_of<kFrom>(unit), true);
        }
    }
    static __device__ __forceinline__ storage_of_t<kTo> rounded(real value) {
        if constexpr (kTo == element_type::f32 || kTo == element_type::f64) {
            return static_cast<storage_of_t<kTo>>(value);
        } else {
            return element_from<kTo>(static_cast<double>(value), true);
        }
    }
    template <int kCount>
    static __device__ __forceinline__ vector_of<kCount> packed(const real (&values)[kCount]) {
        if constexpr (kWide || kUnit > 2 || kTo == element_type::boolean) {
            storage_of_t<kTo> results[kCount];
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) results[k] = rounded(values[k]);
            return joined(results);
        } else {
            constexpr int kPerWord = 4 / kUnit;
            vector_of<kCount> v;
            CORNERTURN_UNROLL
            for (int i = 0; i < kCount / kPerWord; ++i) {
                const int k = i * kPerWord;
                v.words[i] = narrowed_pair<kTo>(values[k], values[k + 1]);
                if constexpr (kUnit == 1) v.words[i] |= narrowed_pair<kTo>(values[k + 2], values[k + 3]) << 16;
            }
            return v;
        }
    }
    template <int kCount>
    static __device__ __forceinline__ vector_of<kCount> joined(const storage_of_t<kTo> (&results)[kCount]) {
        vector_of<kCount> v = {};
        CORNERTURN_UNROLL
        for (int k = 0; k < kCount; ++k) {
            if constexpr (kUnit == 8) {
                const uint2 both = as_bits(results[k]);
                v.words[2 * k] = both.x, v.words[2 * k + 1] = both.y;
            } else {
                v.words[k * kUnit / 4] |= static_cast<unsigned>(as_bits(results[k])) << k * kUnit % 4 * 8;
            }
        }
        return v;
    }
};

}  // namespace CORNERTURN_KERNELS
