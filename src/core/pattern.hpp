// The values that the verifier writes into matrices. Host and device code share this file.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace cornerturn {

// A bijection of 64 bits in which every input bit reaches every output bit (the finaliser of SplitMix64: Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014).
CORNERTURN_HOST_DEVICE inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// The verifier's storage types, by element size.
struct alignas(16) bits128 {
    std::uint64_t low, high;
    CORNERTURN_HOST_DEVICE friend bool operator==(const bits128& a, const bits128& b) {
        return a.low == b.low && a.high == b.high;
    }
};

// The element at `index` of a matrix. All elements of 8 and 16 bytes differ, and so do up to 2^32 elements of 4 bytes.
// Narrower elements repeat, but without a period.
template <class T>
CORNERTURN_HOST_DEVICE T pattern(std::uint64_t index, std::uint64_t seed) {
    const std::uint64_t mixed = mix(index + seed * 0x9e3779b97f4a7c15u);
    if constexpr (sizeof(T) == 16) {
        return T{mixed, ~mixed ^ seed};
    } else if constexpr (sizeof(T) == 4) {
        // A bijection of the low 32 bits: the factors are odd, and the shifts can be inverted.
        std::uint32_t x = static_cast<std::uint32_t>(index);
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
        return (x ^ (x >> 16)) ^ static_cast<std::uint32_t>(mix((index >> 32) + seed));
    } else {
        return static_cast<T>(mixed);
    }
}

// Makes the two highest bits of the exponent different. As a half, a float, a double or a complex double, the value is
// then finite and not denormal, so multiplying it by one does not change its bits.
template <class T>
CORNERTURN_HOST_DEVICE T as_finite(T value) {
    if constexpr (sizeof(T) == 16) {
        return T{as_finite(value.low), as_finite(value.high)};
    } else if constexpr (sizeof(T) >= 2) {
        constexpr int kTop = 8 * sizeof(T) - 2;
        const T top = static_cast<T>(T{1} << kTop);
        return static_cast<T>((value & ~top) | (~(value << 1) & top));
    } else {
        return value;
    }
}

// A value that a kernel might treat specially, selected by `bits`: all bits set, 0, -0, infinity, a denormal, or a
// quiet or signalling NaN with a payload. Two bytes are a bfloat16; eight bytes are a double or two floats.
template <class T>
CORNERTURN_HOST_DEVICE T special(std::uint64_t bits) {
    if constexpr (sizeof(T) == 8) {
        if ((bits >> 56 & 1) != 0) {
            const T high = special<std::uint32_t>(bits >> 8);
            return high << 32 | special<std::uint32_t>(bits);
        }
    }
    constexpr int kBits = 8 * sizeof(T), kFraction = kBits == 64 ? 52 : kBits == 32 ? 23 : 7;
    constexpr T kSign = static_cast<T>(T{1} << (kBits - 1)), kQuiet = static_cast<T>(T{1} << (kFraction - 1));
    constexpr T kInfinite = static_cast<T>(static_cast<T>(~kSign) >> kFraction << kFraction);
    const T payload = static_cast<T>(bits >> 3 & (kQuiet - 1));
    switch (bits & 7) {
        case 0: return static_cast<T>(~T{0});
        case 1: return 0;
        case 2: return kSign;
        case 3: return kInfinite;
        case 4: return 1;
        case 5: return static_cast<T>(kInfinite | kQuiet | payload);
        case 6: return static_cast<T>(kSign | kInfinite | kQuiet | payload);
        default: return static_cast<T>(kInfinite | payload | 1);
    }
}

// Replaces one value in 64 by a special one. Single bytes stay, because they take all values anyway.
template <class T>
CORNERTURN_HOST_DEVICE T with_specials(T value) {
    if constexpr (sizeof(T) == 16) {
        return T{with_specials(value.low), with_specials(value.high)};
    } else if constexpr (sizeof(T) == 1) {
        return value;
    } else {
        constexpr T kWhich = 63;
        return (value & kWhich) != 0 ? value : special<T>(mix(value));
    }
}

// Poison: the complement of the expected value. It fills a destination before a run, so that an element that was not
// written, or is left from an earlier run, never passes.
template <class T>
CORNERTURN_HOST_DEVICE T complement(T value) {
    if constexpr (sizeof(T) == 16) {
        return T{~value.low, ~value.high};
    } else {
        return static_cast<T>(~value);
    }
}

// Writes and recognises elements that are stored as a T. `at` is aligned to T. With `poison`, elements are complements.
// With `finite_only`, they have no special values (as_finite()); otherwise some do.
template <class T>
struct typed_elements {
    std::uint64_t seed;
    bool poison, finite_only = false;

    CORNERTURN_HOST_DEVICE static constexpr int size() { return sizeof(T); }
    CORNERTURN_HOST_DEVICE T value(std::uint64_t index) const {
        const T bits = pattern<T>(index, seed), expected = finite_only ? as_finite(bits) : with_specials(bits);
        return poison ? complement(expected) : expected;
    }
    CORNERTURN_HOST_DEVICE void put(unsigned char* at, std::uint64_t index) const {
        *reinterpret_cast<T*>(at) = value(index);
    }
    CORNERTURN_HOST_DEVICE bool holds(const unsigned char* at, std::uint64_t index) const {
        return *reinterpret_cast<const T*>(at) == value(index);
    }
};

// The same for elements of any size at any address. It works on eight bytes at a time, and each eight bytes identify
// the element.
struct sized_elements {
    std::uint64_t seed;
    bool poison;
    int bytes;

    CORNERTURN_HOST_DEVICE int size() const { return bytes; }
    // Calls on_byte(i, value) for each byte of the element. Stops and returns false if on_byte returns false.
    template <class F>
    CORNERTURN_HOST_DEVICE bool for_each_byte(std::uint64_t index, F on_byte) const {
        const std::uint64_t element = pattern<std::uint64_t>(index, seed);
        for (int i = 0; i < bytes;) {
            const std::uint64_t expected = with_specials(mix(element + static_cast<unsigned>(i) / 8));
            std::uint64_t word = poison ? complement(expected) : expected;
            for (const int end = i + 8 < bytes ? i + 8 : bytes; i < end; ++i, word >>= 8) {
                if (!on_byte(i, static_cast<unsigned char>(word))) return false;
            }
        }
        return true;
    }
    CORNERTURN_HOST_DEVICE void put(unsigned char* at, std::uint64_t index) const {
        for_each_byte(index, [at](int i, unsigned char value) {
            at[i] = value;
            return true;
        });
    }
    CORNERTURN_HOST_DEVICE bool holds(const unsigned char* at, std::uint64_t index) const {
        return for_each_byte(index, [at](int i, unsigned char value) { return at[i] == value; });
    }
};

// Guard bytes surround a matrix and fill the gaps after its rows. No kernel may write them.
CORNERTURN_HOST_DEVICE inline unsigned char guard_byte(std::uint64_t offset) {
    return static_cast<unsigned char>(mix(offset + 0x6775617264u));
}

inline constexpr std::int64_t kGuardBytes = 4096;  // on each side of a buffer

}  // namespace cornerturn
