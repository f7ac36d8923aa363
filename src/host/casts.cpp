// Conversions without vectors: through f64, and between integers.
#include "host/casts.hpp"

#include <cstring>
#include <type_traits>

namespace cornerturn::host {
namespace {

template <class T>
const T* elements(const byte* at) {
    return reinterpret_cast<const T*>(at);
}
template <class T>
T* elements(byte* at) {
    return reinterpret_cast<T*>(at);
}

template <element_type kType>
void to_f64_one_by_one(const byte* from, double* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = value_of<kType>(elements<storage_of_t<kType>>(from)[i]).floating;
}
}  // namespace

void wide_to_f64(element_type type, const byte* from, double* to, std::int64_t count) {
    switch (type) {
        case element_type::u32: return to_f64_one_by_one<element_type::u32>(from, to, count);
        case element_type::i32: return to_f64_one_by_one<element_type::i32>(from, to, count);
        case element_type::u64: return to_f64_one_by_one<element_type::u64>(from, to, count);
        case element_type::i64: return to_f64_one_by_one<element_type::i64>(from, to, count);
        case element_type::f64: std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double)); return;
        default: return;
    }
}

void from_f64(const double* from, element_type type, byte* to, std::int64_t count, bool saturates) {
    with_element_type(type, [&]<element_type kTo>() {
        for (std::int64_t i = 0; i < count; ++i)
            elements<storage_of_t<kTo>>(to)[i] = element_from<kTo>(from[i], saturates);
    });
}

namespace {

// Integers of 64 bits, and integers that wrap, as they are.
template <element_type kFrom>
void from_integers(const byte* from, element_type type, byte* to, std::int64_t count, bool saturates) {
    with_element_type(type, [&]<element_type kTo>() {
        for (std::int64_t i = 0; i < count; ++i) {
            const storage_of_t<kFrom> value = elements<storage_of_t<kFrom>>(from)[i];
            any_value any = value_of<kFrom>(value);
            any.integer = static_cast<std::uint64_t>(value);  // sign-extended
            any.is = std::is_signed_v<storage_of_t<kFrom>> ? any_value::kind::is_signed : any_value::kind::is_unsigned;
            elements<storage_of_t<kTo>>(to)[i] = element_from<kTo>(any, saturates);
        }
    });
}

}  // namespace

void convert_integers(element_type from_type, const byte* from, element_type type, byte* to, std::int64_t count,
                      bool saturates) {
    switch (from_type) {
        case element_type::u8: return from_integers<element_type::u8>(from, type, to, count, saturates);
        case element_type::u16: return from_integers<element_type::u16>(from, type, to, count, saturates);
        case element_type::u32: return from_integers<element_type::u32>(from, type, to, count, saturates);
        case element_type::u64: return from_integers<element_type::u64>(from, type, to, count, saturates);
        case element_type::i8: return from_integers<element_type::i8>(from, type, to, count, saturates);
        case element_type::i16: return from_integers<element_type::i16>(from, type, to, count, saturates);
        case element_type::i32: return from_integers<element_type::i32>(from, type, to, count, saturates);
        default: return from_integers<element_type::i64>(from, type, to, count, saturates);
    }
}

}  // namespace cornerturn::host
