// CUDA's atomic functions for each type of cuda::atomic.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base.h"

// The type that is added to a T: T itself, or a number of elements for a pointer.
template <class T>
T ct_atomic_step(T*);
template <class T>
std::ptrdiff_t ct_atomic_step(T**);

// A type of 2, 4, 8 or 16 bytes is aligned to its size, so one access reads the whole value.
template <class T>
constexpr std::size_t ct_atomic_alignment = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0 &&
                                                    sizeof(T) > alignof(T)
                                                ? sizeof(T)
                                                : alignof(T);

template <class To, class From>
CT_INLINE To ct_same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(To));
    return to;
}

template <class Bits, class T>
struct ct_atomic_plain {
    typedef Bits __attribute__((may_alias)) aliasing;

    CT_INLINE static T load(const T* from) {
        const Bits bits = *reinterpret_cast<const volatile aliasing*>(from);
        return ct_same_bits<T>(bits);
    }
    CT_INLINE static void store(T* to, T value) {
        *reinterpret_cast<volatile aliasing*>(to) = ct_same_bits<Bits>(value);
    }
};

// Types of 4 or 8 bytes: atomicExch and atomicCAS work on their bits.
template <class Bits, class T>
struct ct_atomic_bits : ct_atomic_plain<Bits, T> {
    CT_INLINE static T exchange(T* at, T value) {
        return ct_same_bits<T>(atomicExch(reinterpret_cast<Bits*>(at), ct_same_bits<Bits>(value)));
    }
    CT_INLINE static T compare_exchange(T* at, T expected, T desired) {
        return ct_same_bits<T>(
            atomicCAS(reinterpret_cast<Bits*>(at), ct_same_bits<Bits>(expected), ct_same_bits<Bits>(desired)));
    }
};

// Integers of 4 or 8 bytes: sum, minimum, maximum and bit operations take one instruction each, on the type of CUDA's
// function.
template <class Bits, class Signed, class T>
struct ct_atomic_integer : ct_atomic_bits<Bits, T> {
    using ordered = std::conditional_t<std::is_signed_v<T>, Signed, Bits>;
    static constexpr bool kCanAdd = true;
    static constexpr bool kCanCompare = true;

    CT_INLINE static Bits* bits(T* at) { return reinterpret_cast<Bits*>(at); }
    CT_INLINE static T add(T* at, T by) { return static_cast<T>(atomicAdd(bits(at), static_cast<Bits>(by))); }
    CT_INLINE static T min(T* at, T value) {
        return static_cast<T>(atomicMin(reinterpret_cast<ordered*>(at), static_cast<ordered>(value)));
    }
    CT_INLINE static T max(T* at, T value) {
        return static_cast<T>(atomicMax(reinterpret_cast<ordered*>(at), static_cast<ordered>(value)));
    }
    CT_INLINE static T bit_and(T* at, T value) { return static_cast<T>(atomicAnd(bits(at), static_cast<Bits>(value))); }
    CT_INLINE static T bit_or(T* at, T value) { return static_cast<T>(atomicOr(bits(at), static_cast<Bits>(value))); }
    CT_INLINE static T bit_xor(T* at, T value) { return static_cast<T>(atomicXor(bits(at), static_cast<Bits>(value))); }
};

template <class Bits, class T>
struct ct_atomic_floating : ct_atomic_bits<Bits, T> {
    static constexpr bool kCanAdd = true;
    static constexpr bool kCanCompare = false;
    CT_INLINE static T add(T* at, T by) { return atomicAdd(at, by); }
};

// Other types of 4 or 8 bytes: structs, enumerations, pointers.
template <class Bits, class T>
struct ct_atomic_other : ct_atomic_bits<Bits, T> {
    static constexpr bool kCanAdd = false;
    static constexpr bool kCanCompare = false;
};

// Types of 1 or 2 bytes: atomicCAS replaces the 32-bit word that contains them.
template <class Bits, class T>
struct ct_atomic_part : ct_atomic_plain<Bits, T> {
    static constexpr bool kCanAdd = false;
    static constexpr bool kCanCompare = false;
    static constexpr unsigned kMask = sizeof(T) == 1 ? 0xffu : 0xffffu;

    CT_INLINE static T exchange(T* at, T value) {
        T old = ct_atomic_plain<Bits, T>::load(at);
        for (;;) {
            const T seen = compare_exchange(at, old, value);
            if (ct_same_bits<Bits>(seen) == ct_same_bits<Bits>(old)) return old;
            old = seen;
        }
    }
    CT_INLINE static T compare_exchange(T* at, T expected, T desired) {
        const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(at);
        unsigned* const word = reinterpret_cast<unsigned*>(address & ~static_cast<std::uintptr_t>(3));
        const unsigned shift = static_cast<unsigned>(address & 3) * 8;
        const unsigned wanted = ct_same_bits<Bits>(expected);
        unsigned seen = *static_cast<volatile unsigned*>(word);
        for (;;) {
            const unsigned part = (seen >> shift) & kMask;
            if (part != wanted) return ct_same_bits<T>(static_cast<Bits>(part));
            const unsigned next =
                (seen & ~(kMask << shift)) | (static_cast<unsigned>(ct_same_bits<Bits>(desired)) << shift);
            const unsigned old = atomicCAS(word, seen, next);
            if (old == seen) return expected;
            seen = old;
        }
    }
};

// Pointers are not integers here: they add elements, so they need compare_exchange().
template <class T>
constexpr bool ct_is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T, class Enable = void>
struct ct_atomic_functions;

template <class T>
struct ct_atomic_functions<T, std::enable_if_t<sizeof(T) == 1>> : ct_atomic_part<unsigned char, T> {};
template <class T>
struct ct_atomic_functions<T, std::enable_if_t<sizeof(T) == 2>> : ct_atomic_part<unsigned short, T> {};
template <class T>
struct ct_atomic_functions<T, std::enable_if_t<sizeof(T) == 4>>
    : std::conditional_t<
          ct_is_integer<T>, ct_atomic_integer<unsigned, int, T>,
          std::conditional_t<std::is_same_v<T, float>, ct_atomic_floating<unsigned, T>, ct_atomic_other<unsigned, T>>> {
};
template <class T>
struct ct_atomic_functions<T, std::enable_if_t<sizeof(T) == 8>>
    : std::conditional_t<ct_is_integer<T>, ct_atomic_integer<unsigned long long, long long, T>,
                         std::conditional_t<std::is_same_v<T, double>, ct_atomic_floating<unsigned long long, T>,
                                            ct_atomic_other<unsigned long long, T>>> {};
