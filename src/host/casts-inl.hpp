// Conversions of elements that follow each other, in one instruction set.
//
// Each goes through f32 or f64: a piece of elements is widened into a buffer, scaled there, and narrowed; f32 itself
// needs no buffer. The buffers stay in the nearest cache, so a type needs one function to widen it and one to narrow
// it, and no pair needs its own. casts.cpp has what does without vectors.
#if defined(CORNERTURN_HOST_CASTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_CASTS_INL
#undef CORNERTURN_HOST_CASTS_INL
#else
#define CORNERTURN_HOST_CASTS_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "host/casts.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kPiece = 512;  // elements that are converted at a time

template <class T>
HWY_INLINE const T* elements(const byte* at) {
    return reinterpret_cast<const T*>(at);
}
template <class T>
HWY_INLINE T* elements(byte* at) {
    return reinterpret_cast<T*>(at);
}

// ---- To f32: types that it holds exactly ----------------------------------------------------------------------------

template <class T>
void widen_integers(const byte* from, float* to, std::int64_t count) {
    const hn::ScalableTag<float> floats;
    const hn::Rebind<std::int32_t, decltype(floats)> words;
    const hn::Rebind<T, decltype(floats)> narrow;
    const T* const all = elements<T>(from);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(floats));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::ConvertTo(floats, hn::PromoteTo(words, hn::LoadU(narrow, all + i))), floats, to + i);
    for (; i < count; ++i) to[i] = static_cast<float>(all[i]);
}

// Whether the processor itself converts f16.
#if HWY_ARCH_X86
constexpr bool kHasHalves = HWY_TARGET <= HWY_AVX2;
#else
constexpr bool kHasHalves = false;
#endif

template <element_type kType>
void widen_floats(const byte* from, float* to, std::int64_t count) {
    using storage = storage_of_t<kType>;
    constexpr float_format f = format_of(kType);
    const hn::ScalableTag<float> floats;
    const hn::RebindToUnsigned<decltype(floats)> words;
    const hn::RebindToSigned<decltype(floats)> numbers;
    const hn::Rebind<storage, decltype(floats)> narrow;
    const storage* const all = elements<storage>(from);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(floats));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        if constexpr (kType == element_type::f16 && kHasHalves) {
            const hn::Rebind<hwy::float16_t, decltype(floats)> halves;
            hn::StoreU(hn::PromoteTo(floats, hn::BitCast(halves, hn::LoadU(narrow, all + i))), floats, to + i);
            continue;
        }
        const auto bits = hn::BitCast(words, hn::PromoteTo(numbers, hn::LoadU(narrow, all + i)));
        if constexpr (kType == element_type::bf16) {
            hn::StoreU(hn::BitCast(floats, hn::ShiftLeft<16>(bits)), floats, to + i);
        } else {
            const auto magnitude = hn::And(bits, hn::Set(words, f.sign() - 1));
            const auto sign =
                hn::ShiftLeft<31 - f.exponent_bits - f.fraction_bits>(hn::And(bits, hn::Set(words, f.sign())));
            // Subnormals are small integers times the smallest number.
            const auto factor = hn::Set(floats, std::ldexp(1.0f, 1 - f.bias() - f.fraction_bits));
            const auto small = hn::Mul(hn::ConvertTo(floats, hn::BitCast(numbers, magnitude)), factor);
            constexpr unsigned kMoved = static_cast<unsigned>(127 - f.bias()) << 23;
            auto number = hn::Add(hn::ShiftLeft<23 - f.fraction_bits>(magnitude), hn::Set(words, kMoved));
            if constexpr (f.has_infinity) {
                const auto special = hn::RebindMask(
                    words, hn::Gt(hn::BitCast(numbers, magnitude), hn::Set(numbers, static_cast<int>(f.largest()))));
                number = hn::IfThenElse(special, hn::Or(number, hn::Set(words, 0x7f800000u)), number);
            } else {
                number =
                    hn::IfThenElse(hn::Eq(magnitude, hn::Set(words, f.nan())), hn::Set(words, 0x7fc00000u), number);
            }
            const auto is_small =
                hn::RebindMask(floats, hn::Lt(hn::BitCast(numbers, magnitude), hn::Set(numbers, 1 << f.fraction_bits)));
            const auto value = hn::IfThenElse(is_small, small, hn::BitCast(floats, number));
            hn::StoreU(hn::BitCast(floats, hn::Or(hn::BitCast(words, value), sign)), floats, to + i);
        }
    }
    for (; i < count; ++i) to[i] = widened<kType>(all[i]);
}

void widen_booleans(const byte* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? 1.0f : 0.0f;
}

void to_f32(element_type type, const byte* from, float* to, std::int64_t count) {
    switch (type) {
        case element_type::boolean: return widen_booleans(from, to, count);
        case element_type::u8: return widen_integers<std::uint8_t>(from, to, count);
        case element_type::i8: return widen_integers<std::int8_t>(from, to, count);
        case element_type::u16: return widen_integers<std::uint16_t>(from, to, count);
        case element_type::i16: return widen_integers<std::int16_t>(from, to, count);
        case element_type::f16: return widen_floats<element_type::f16>(from, to, count);
        case element_type::bf16: return widen_floats<element_type::bf16>(from, to, count);
        case element_type::e4m3fn: return widen_floats<element_type::e4m3fn>(from, to, count);
        case element_type::e5m2: return widen_floats<element_type::e5m2>(from, to, count);
        default: break;
    }
}

// ---- From f32 to types of up to 4 bytes -----------------------------------------------------------------------------

template <class T>
void narrow_integers(const float* from, byte* to, std::int64_t count) {
    const hn::ScalableTag<float> floats;
    const hn::Rebind<T, decltype(floats)> narrow;
    T* const all = elements<T>(to);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(floats));
    const auto least = hn::Set(floats, static_cast<float>(std::numeric_limits<T>::min()));
    const auto most = hn::Set(floats, static_cast<float>(std::numeric_limits<T>::max()));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        auto value = hn::LoadU(floats, from + i);
        value = hn::IfThenElseZero(hn::Eq(value, value), value);
        value = hn::Min(hn::Max(value, least), most);
        hn::StoreU(hn::DemoteTo(narrow, hn::NearestInt(value)), narrow, all + i);
    }
    for (; i < count; ++i) all[i] = nearest_integer<T>(from[i]);
}

// Rounds in integers: half of the last bit that is kept, less one if that bit is 0, is added to the others.
template <element_type kType>
void narrow_floats(const float* from, byte* to, std::int64_t count, bool saturates) {
    using storage = storage_of_t<kType>;
    constexpr float_format f = format_of(kType);
    constexpr int kDropped = 23 - f.fraction_bits;
    const hn::ScalableTag<float> floats;
    const hn::RebindToUnsigned<decltype(floats)> words;
    const hn::RebindToSigned<decltype(floats)> numbers;
    const hn::Rebind<storage, decltype(floats)> narrow;
    storage* const all = elements<storage>(to);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(floats));
    const bool fp8_saturates = saturates && is_fp8(kType);
    const auto beyond = hn::Set(words, fp8_saturates ? f.largest() : f.has_infinity ? f.infinity() : f.nan());
    const auto signed_of = [&](auto bits) { return hn::BitCast(numbers, bits); };
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        if constexpr (kType == element_type::f16 && kHasHalves) {
            const hn::Rebind<hwy::float16_t, decltype(floats)> halves;
            hn::StoreU(hn::BitCast(narrow, hn::DemoteTo(halves, hn::LoadU(floats, from + i))), narrow, all + i);
            continue;
        }
        const auto bits = hn::BitCast(words, hn::LoadU(floats, from + i));
        const auto magnitude = hn::And(bits, hn::Set(words, 0x7fffffffu));
        const auto sign =
            hn::And(hn::ShiftRight<31 - f.exponent_bits - f.fraction_bits>(bits), hn::Set(words, f.sign()));
        constexpr unsigned kMoved = static_cast<unsigned>(127 - f.bias()) << 23;
        const auto odd = hn::And(hn::ShiftRight<kDropped>(magnitude), hn::Set(words, 1u));
        const auto half = hn::Add(odd, hn::Set(words, (1u << (kDropped - 1)) - 1));
        auto kept = hn::ShiftRight<kDropped>(hn::Sub(hn::Add(magnitude, half), hn::Set(words, kMoved)));
        if constexpr (kType != element_type::bf16) {
            // Subnormals: an addition drops the bits, and rounds. The last bit of the sum is the smallest number.
            const auto align = hn::Set(floats, std::ldexp(1.0f, 24 - f.bias() - f.fraction_bits));
            const auto sum = hn::Add(hn::BitCast(floats, magnitude), align);
            const auto small = hn::Sub(hn::BitCast(words, sum), hn::BitCast(words, align));
            const auto is_small = hn::Lt(signed_of(magnitude), hn::Set(numbers, static_cast<int>(kMoved + (1u << 23))));
            kept = hn::IfThenElse(hn::RebindMask(words, is_small), small, kept);
        }
        if constexpr (kType != element_type::bf16) {  // a carry makes infinity of what is beyond
            const auto over = hn::Gt(signed_of(kept), hn::Set(numbers, static_cast<int>(f.largest())));
            kept = hn::IfThenElse(hn::RebindMask(words, over), beyond, kept);
        }
        const auto nan = hn::Gt(signed_of(magnitude), hn::Set(numbers, 0x7f800000));
        kept = hn::IfThenElse(hn::RebindMask(words, nan), hn::Set(words, f.nan()), kept);
        kept = hn::Or(kept, sign);
        // Moved to the sign's place of a signed number, which is then narrowed without saturation.
        constexpr int kUp = 32 - 8 * static_cast<int>(sizeof(storage));
        const auto number = hn::ShiftRight<kUp>(signed_of(hn::ShiftLeft<kUp>(kept)));
        const hn::RebindToSigned<decltype(narrow)> narrow_signed;
        hn::StoreU(hn::BitCast(narrow, hn::DemoteTo(narrow_signed, number)), narrow, all + i);
    }
    for (; i < count; ++i) all[i] = element_from<kType>(static_cast<double>(from[i]), saturates);
}

void narrow_booleans(const float* from, byte* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? 1 : 0;
}

void from_f32(const float* from, element_type type, byte* to, std::int64_t count, bool saturates) {
    switch (type) {
        case element_type::boolean: return narrow_booleans(from, to, count);
        case element_type::u8: return narrow_integers<std::uint8_t>(from, to, count);
        case element_type::i8: return narrow_integers<std::int8_t>(from, to, count);
        case element_type::u16: return narrow_integers<std::uint16_t>(from, to, count);
        case element_type::i16: return narrow_integers<std::int16_t>(from, to, count);
        case element_type::f16: return narrow_floats<element_type::f16>(from, to, count, saturates);
        case element_type::bf16: return narrow_floats<element_type::bf16>(from, to, count, saturates);
        case element_type::e4m3fn: return narrow_floats<element_type::e4m3fn>(from, to, count, saturates);
        case element_type::e5m2: return narrow_floats<element_type::e5m2>(from, to, count, saturates);
        default: break;
    }
}

// ---- Scale and bias -------------------------------------------------------------------------------------------------

// `first` is the position of the piece in its line. Both pieces may be the same.
template <class Real>
void scale_piece(const Real* values, Real* results, std::int64_t count, const line_factors& by, std::int64_t first) {
    const Real* const scales = by.scales == nullptr ? nullptr : static_cast<const Real*>(by.scales) + first;
    const Real* const biases = by.biases == nullptr ? nullptr : static_cast<const Real*>(by.biases) + first;
    const auto scale = static_cast<Real>(by.scale), bias = static_cast<Real>(by.bias);
    std::int64_t i = 0;
#if HWY_NATIVE_FMA
    const hn::ScalableTag<Real> reals;
    const auto all_scale = hn::Set(reals, scale), all_bias = hn::Set(reals, bias);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(reals));
    for (; i + lanes <= count; i += lanes) {
        const auto by_scale = scales == nullptr ? all_scale : hn::LoadU(reals, scales + i);
        const auto by_bias = biases == nullptr ? all_bias : hn::LoadU(reals, biases + i);
        hn::StoreU(hn::MulAdd(hn::LoadU(reals, values + i), by_scale, by_bias), reals, results + i);
    }
#endif
    for (; i < count; ++i)
        results[i] = std::fma(values[i], scales == nullptr ? scale : scales[i], biases == nullptr ? bias : biases[i]);
}

void convert_elements(const byte* from, byte* to, std::int64_t count, element_cast cast, const line_factors& by) {
    const std::int64_t from_size = size_of(cast.from), to_size = size_of(cast.to);
    const bool wide = is_worked_out_in_f64(cast);
    // Integers do not go through f64 if that would round them, or lose that they wrap.
    const bool as_integers = !cast.scaled && is_integer(cast.from) && (wide || !cast.saturates) &&
                             (is_integer(cast.to) || size_of(cast.from) == 8);
    // Floats are truncated in f64, because it is rare.
    const bool truncates = is_integer(cast.to) && !cast.saturates;
    alignas(64) float floats[kPiece];
    alignas(64) double doubles[kPiece];
    for (std::int64_t first = 0; first < count; first += kPiece) {
        const std::int64_t n = std::min(kPiece, count - first);
        const byte* const piece = from + first * from_size;
        byte* const result = to + first * to_size;
        // Memory reads the next piece while this one is worked on.
        const std::int64_t ahead = std::min(kPiece, count - first - n) * from_size;
        for (std::int64_t i = 0; i < ahead; i += kLineBytes) __builtin_prefetch(piece + n * from_size + i);
        if (as_integers) {
            convert_integers(cast.from, piece, cast.to, result, n, cast.saturates);
        } else if (wide) {
            if (is_wide(cast.from)) {
                wide_to_f64(cast.from, piece, doubles, n);
            } else {
                const float* values = elements<float>(piece);
                if (cast.from != element_type::f32) to_f32(cast.from, piece, floats, n), values = floats;
                for (std::int64_t i = 0; i < n; ++i) doubles[i] = values[i];
            }
            if (cast.scaled) scale_piece(doubles, doubles, n, by, first);
            from_f64(doubles, cast.to, result, n, cast.saturates);
        } else {
            // What is f32 already, or becomes f32, needs no buffer.
            const float* values = elements<float>(piece);
            float* const made = cast.to == element_type::f32 ? elements<float>(result) : floats;
            if (cast.from != element_type::f32) to_f32(cast.from, piece, made, n), values = made;
            if (cast.scaled) scale_piece(values, made, n, by, first), values = made;
            if (truncates) {
                for (std::int64_t i = 0; i < n; ++i) doubles[i] = values[i];
                from_f64(doubles, cast.to, result, n, false);
            } else if (cast.to != element_type::f32) {
                from_f32(values, cast.to, result, n, cast.saturates);
            }
        }
    }
}

}  // namespace

cast_function cast_elements() { return convert_elements; }

}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
