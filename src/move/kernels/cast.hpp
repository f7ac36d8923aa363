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

// kAlong: the scales and biases of tiles may differ along a line.
template <element_type kFrom, element_type kTo, bool kAlong = true>
struct converted {
    static constexpr int kUnit = facts_of<kTo>::size, kSourceUnit = facts_of<kFrom>::size,
                         kPerVector = kVectorBytes / kUnit;
    static constexpr bool kWide = facts_of<kFrom>::wide || facts_of<kTo>::wide;
    // Whether results are made by twos (device/casts.hpp).
    static constexpr bool kInPairs = !kWide && kUnit <= 2 && kTo != element_type::boolean;
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
        if constexpr (kAlong) {
            return whole(made_in_line(units, factor, j));
        } else {
            return whole(made_by_one(units, factors_at(first + factor)));
        }
    }
    __device__ __forceinline__ bits unit(const byte* from, int factor, unsigned j) const {
        return made_one(from, place_in_line(factor, j));
    }

    // A vector of units from the source, and its first ones, whose scales and biases are col_step apart from number
    // `at` on.
    __device__ __forceinline__ uint4 vector_at(const byte* from, read_policy read, std::int64_t at) const {
        loaded source;
        load_aligned(from, read, source);
        return vector_from(source.units, at);
    }
    __device__ __forceinline__ uint4 first_at(const byte* from, int count, std::int64_t at) const {
        source_unit units[kPerVector] = {};
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) {
            if (k < count) units[k] = value_at<source_unit>(from + k * kSourceUnit);
        }
        return vector_from(units, at, count);
    }

    // A word of the source, all with scale and bias number `at`.
    template <int kCount = 4 / kSourceUnit>
    __device__ __forceinline__ auto word_of(unsigned word, std::int64_t at) const {
        source_unit units[kCount];
        __builtin_memcpy(units, &word, sizeof units);
        const vector_of<kCount> v = made_by_one(units, factors_at(at));
        storage_t<kCount * kUnit> result;
        __builtin_memcpy(&result, &v, sizeof result);
        return result;
    }

    // ---- Runs (rows.hpp)
    using work = cast_work;
    struct loaded {
        source_unit units[kPerVector];
    };
    static constexpr int kResident = moves::resident_threads_of_rows(true),
                         kAtOnce = moves::rows_vectors_at_once(kUnit, kSourceUnit);
    static constexpr int kAround = kSourceUnit < 4 && sizeof(loaded) >= 4 ? 3 : 0;

    static __device__ __forceinline__ std::int64_t factor_of_run(const cast_work& w, int axis, unsigned at) {
        return axis == w.tile_axis ? at * w.tile_step : 0;
    }
    static __device__ __forceinline__ int factor_in_run(const cast_work& w) { return w.line_step; }
    // One scale and bias, if there are any.
    struct factors {
        real scale = 1, bias = 0;
    };
    __device__ __forceinline__ factors factors_at(std::int64_t at) const {
        if (!w.scaled) return {};
        return {factor_at<real>(w.scales, at), factor_at<real>(w.biases, at)};
    }
    // Those of a span (cast_spans.hpp). `at`: the number of the first span's.
    __device__ __forceinline__ factors factors_of_span(std::int64_t at, unsigned span) const {
        return factors_at(at + step_of(span) * std::int64_t{w.line_step});
    }
    __device__ __forceinline__ uint4 vector_of_run(const loaded& source, const factors& f) const {
        return whole(made_by_one(source.units, f));
    }
    // Those of each unit. `at`: the number of the first one's.
    __device__ __forceinline__ uint4 vector_along_run(const loaded& source, std::int64_t at) const {
        if (w.line_step == 0) return vector_of_run(source, factors_at(at));
        return whole(made_along(source.units, at, w.line_step));
    }
    __device__ __forceinline__ bits unit_of_run(const byte* from, std::int64_t at) const { return made_one(from, at); }
    // The source of a vector that begins at one.
    static __device__ __forceinline__ void load_aligned(const byte* from, read_policy read, loaded& source) {
        constexpr int kAtOnce = sizeof source < kVectorBytes ? sizeof source : kVectorBytes;
        using part = storage_t<kAtOnce>;
        part parts[sizeof source / kAtOnce];
        CORNERTURN_UNROLL
        for (int i = 0; i < static_cast<int>(sizeof source) / kAtOnce; ++i) {
            if constexpr (kAtOnce >= 4) {
                parts[i] = read.load(reinterpret_cast<const part*>(from) + i);
            } else {
                parts[i] = value_at<part>(from);
            }
        }
        __builtin_memcpy(&source, parts, sizeof source);
    }
    // The units of a vector that are in [begin, end). Others become 0.
    static __device__ __forceinline__ void load_within(const byte* from, const byte* begin, const byte* end,
                                                       loaded& source) {
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; ++k) {
            const byte* const at = from + k * kSourceUnit;
            source.units[k] = at >= begin && at < end ? value_at<source_unit>(at) : source_unit{};
        }
    }
    static __device__ __forceinline__ bool is_aligned(const byte* from) {
        constexpr std::size_t kAligned = sizeof(loaded) < kVectorBytes ? sizeof(loaded) : kVectorBytes;
        return reinterpret_cast<std::uintptr_t>(from) % kAligned == 0;
    }
    // The same at any address. Words are read that may begin before the vector or end after it.
    static __device__ __forceinline__ void load_apart(const byte* from, read_policy read, loaded& source) {
        if constexpr (kAround > 0) {
            constexpr int kWords = sizeof(loaded) / 4;
            const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 4);
            const auto* const words = reinterpret_cast<const unsigned*>(from - past);
            unsigned raw[kWords + 1], shifted[kWords];
            CORNERTURN_UNROLL
            for (int i = 0; i < kWords; ++i) raw[i] = read.load(words + i);
            raw[kWords] = read.load(words + (past > 0 ? kWords : kWords - 1));
            CORNERTURN_UNROLL
            for (int i = 0; i < kWords; ++i) shifted[i] = __funnelshift_r(raw[i], raw[i + 1], 8 * past);
            __builtin_memcpy(&source, shifted, sizeof source);
        } else {
            CORNERTURN_UNROLL
            for (int k = 0; k < kPerVector; ++k) source.units[k] = value_at<source_unit>(from + k * kSourceUnit);
        }
    }

private:
    // Some scales or biases, `step` apart, from number `at` on.
    static constexpr int kSome = kPerVector < 4 ? kPerVector : 4;
    __device__ __forceinline__ void load_factors(const moves::factors_work& f, std::int64_t at, int step,
                                                 real (&factors)[kSome]) const {
        using part = storage_t<4 * kSome>;
        const std::uintptr_t from =
            reinterpret_cast<std::uintptr_t>(f.data) + static_cast<std::uintptr_t>(at) * sizeof(float);
        if (step == 1 && f.data != nullptr && !f.one && !f.doubles && from % sizeof(part) == 0) {
            const auto some = value_at<part>(reinterpret_cast<const byte*>(from));
            float numbers[kSome];
            __builtin_memcpy(numbers, &some, sizeof numbers);
            CORNERTURN_UNROLL
            for (int i = 0; i < kSome; ++i) factors[i] = static_cast<real>(numbers[i]);
        } else {
            CORNERTURN_UNROLL
            for (int i = 0; i < kSome; ++i) factors[i] = factor_at<real>(f, at + static_cast<std::int64_t>(i) * step);
        }
    }
    // A vector of units whose scales and biases are `step` apart, from number `at` on.
    __device__ __forceinline__ vector_of<kPerVector> made_along(const source_unit (&units)[kPerVector], std::int64_t at,
                                                                int step) const {
        real values[kPerVector];
        CORNERTURN_UNROLL
        for (int k = 0; k < kPerVector; k += kSome) {
            real scales[kSome], biases[kSome];
            load_factors(w.scales, at + static_cast<std::int64_t>(k) * step, step, scales);
            load_factors(w.biases, at + static_cast<std::int64_t>(k) * step, step, biases);
            CORNERTURN_UNROLL
            for (int i = 0; i < kSome; ++i) values[k + i] = multiply_add(real_of(units[k + i]), scales[i], biases[i]);
        }
        return packed(values);
    }
    // Beyond `count` units, no scale or bias is read.
    __device__ __forceinline__ uint4 vector_from(const source_unit (&units)[kPerVector], std::int64_t at,
                                                 int count = kPerVector) const {
        if (w.col_step == 0) return whole(made_by_one(units, factors_at(at)));
        if (count == kPerVector) return whole(made_along(units, at, w.col_step));
        return whole(made_by(units, [&](int k, real value) {
            return scaled(value, at + static_cast<std::int64_t>(k < count ? k : 0) * w.col_step);
        }));
    }

    // Units of a line from number j on. The axis of their scales and biases takes a step after each by_inner.d units,
    // and begins again after by_steps.d steps. A vector mostly has one of its indices, two, or one for each unit.
    __device__ __forceinline__ vector_of<kPerVector> made_in_line(const source_unit (&units)[kPerVector], int factor,
                                                                  unsigned j) const {
        if (w.line_step == 0) return made_by_one(units, factors_at(first + factor));
        unsigned within = j - w.by_inner.quotient(j) * w.by_inner.d, nth = step_of(j);
        const auto of_step = [&] { return factors_at(first + factor + static_cast<std::int64_t>(nth) * w.line_step); };
        const auto next_step = [&] { nth = nth + 1 == w.by_steps.d ? 0 : nth + 1; };
        if (w.by_inner.d >= kPerVector) {
            const auto left = static_cast<int>(w.by_inner.d - within);
            const factors here = of_step();
            if (left >= kPerVector) return made_by_one(units, here);
            next_step();
            const factors there = of_step();
            return made_by(units, [&](int k, real value) {
                return k < left ? multiply_add(value, here.scale, here.bias)
                                : multiply_add(value, there.scale, there.bias);
            });
        }
        if (w.by_inner.d == 1 && nth + kPerVector <= w.by_steps.d)
            return made_along(units, first + factor + static_cast<std::int64_t>(nth) * w.line_step, w.line_step);
        return made_by(units, [&](int, real value) {
            const factors f = of_step();
            if (++within == w.by_inner.d) {
                within = 0;
                next_step();
            }
            return multiply_add(value, f.scale, f.bias);
        });
    }

    // Where the axis along which scales and biases differ is, at unit j of a line or at span j.
    __device__ __forceinline__ unsigned step_of(unsigned j) const {
        const unsigned steps = w.by_inner.quotient(j);
        return steps - w.by_steps.quotient(steps) * w.by_steps.d;
    }
    // Which scale and bias unit j of a line has.
    __device__ __forceinline__ std::int64_t place_in_line(int factor, unsigned j) const {
        const std::int64_t at = first + factor;
        return w.line_step == 0 ? at : at + step_of(j) * std::int64_t{w.line_step};
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
        if (kWide && !w.scaled) return as_bits(direct(unit));
        const real value = w.scaled ? scaled(real_of(unit), at) : real_of(unit);
        if constexpr (kInPairs) {
            return static_cast<bits>(narrowed_pair<kTo>(value, value));
        } else {
            return as_bits(rounded(value));
        }
    }

    // With one scale and bias, if there are any.
    template <int kCount>
    __device__ __forceinline__ vector_of<kCount> made_by_one(const source_unit (&units)[kCount],
                                                             const factors& f) const {
        if (!w.scaled) return made_by(units, [](int, real value) { return value; });
        return made_by(units, [&](int, real value) { return multiply_add(value, f.scale, f.bias); });
    }
    // scale(k, value): what becomes of unit k.
    template <int kCount, class Scale>
    __device__ __forceinline__ vector_of<kCount> made_by(const source_unit (&units)[kCount], Scale scale) const {
        if (kWide && !w.scaled) {
            storage_of_t<kTo> results[kCount];
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) results[k] = direct(units[k]);
            return joined(results);
        }
        real values[kCount];
        if constexpr (facts_of<kFrom>::fp8 && !kWide && kCount % 2 == 0) {
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; k += 2) {
                const float2 two = widened_pair<kFrom>(units[k] | static_cast<unsigned>(units[k + 1]) << 8);
                values[k] = scale(k, two.x), values[k + 1] = scale(k + 1, two.y);
            }
        } else {
            CORNERTURN_UNROLL
            for (int k = 0; k < kCount; ++k) values[k] = scale(k, real_of(units[k]));
        }
        return packed(values);
    }
    static __device__ __forceinline__ uint4 whole(const vector_of<kPerVector>& v) {
        return make_uint4(v.words[0], v.words[1], v.words[2], v.words[3]);
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
        if constexpr (!kInPairs) {
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
