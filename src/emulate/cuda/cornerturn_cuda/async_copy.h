// Asynchronous copies: a thread starts a copy and waits for it later. The source is read immediately, with one access
// of 4, 8 or 16 bytes. ct_store_copied writes the destination.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "base.h"

struct __attribute__((may_alias, aligned(4))) ct_bytes4 {
    unsigned bits;
};
struct __attribute__((may_alias, aligned(8))) ct_bytes8 {
    unsigned long long bits;
};
struct __attribute__((may_alias, aligned(16))) ct_bytes16 {
    unsigned long long bits[2];
};

template <class Bytes>
CT_INLINE void ct_copy_async_as(void* to, const void* from) {
    const Bytes value = *static_cast<const Bytes*>(from);
    ct_store_copied(to, &value, sizeof(Bytes));
}

// Copies 4, 8 or 16 bytes. Both addresses are multiples of `bytes`.
CT_INLINE void ct_copy_async(void* to, const void* from, unsigned bytes) {
    switch (bytes) {
        case 4: ct_copy_async_as<ct_bytes4>(to, from); break;
        case 8: ct_copy_async_as<ct_bytes8>(to, from); break;
        case 16: ct_copy_async_as<ct_bytes16>(to, from); break;
        default: ct_unsupported("an asynchronous copy whose size is not 4, 8 or 16 bytes");
    }
}

// The same, but the last `zeros` bytes of the destination become 0. They are not read from the source.
CT_INLINE void ct_copy_async_filled(void* to, const void* from, unsigned bytes, unsigned zeros) {
    alignas(16) unsigned char value[16] = {};
    const unsigned read = zeros < bytes ? bytes - zeros : 0;
    const char* const source = static_cast<const char*>(from);
    switch (read) {
        case 0: break;
        case 4: *reinterpret_cast<ct_bytes4*>(value) = *reinterpret_cast<const ct_bytes4*>(source); break;
        case 8: *reinterpret_cast<ct_bytes8*>(value) = *reinterpret_cast<const ct_bytes8*>(source); break;
        case 12:
            *reinterpret_cast<ct_bytes8*>(value) = *reinterpret_cast<const ct_bytes8*>(source);
            *reinterpret_cast<ct_bytes4*>(value + 8) = *reinterpret_cast<const ct_bytes4*>(source + 8);
            break;
        default:
            for (unsigned i = 0; i < read; ++i) value[i] = static_cast<unsigned char>(source[i]);
    }
    ct_store_copied(to, value, bytes);
}

// The widest access that both addresses allow: 16, 8 or 4 bytes, else 1.
CT_INLINE unsigned ct_copy_width(const void* to, const void* from, size_t bytes) {
    const uintptr_t all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
    for (unsigned width = 16; width >= 4; width /= 2) {
        if (all % width == 0 && bytes >= width) return width;
    }
    return 1;
}

// Copies 4, 8 or 16 bytes synchronously, with one load and one store.
CT_INLINE void ct_copy_now(void* to, const void* from, unsigned bytes) {
    switch (bytes) {
        case 4: *static_cast<ct_bytes4*>(to) = *static_cast<const ct_bytes4*>(from); break;
        case 8: *static_cast<ct_bytes8*>(to) = *static_cast<const ct_bytes8*>(from); break;
        default: *static_cast<ct_bytes16*>(to) = *static_cast<const ct_bytes16*>(from); break;
    }
}

// The threads of a group take the chunks of a copy in turn. The rest at the end is too short for an asynchronous
// access, so it is copied byte by byte. Only copies from global to shared memory are asynchronous.
CT_INLINE void ct_copy_async_by(size_t rank, size_t threads, void* to, const void* from, size_t bytes, unsigned width) {
    char* const target = static_cast<char*>(to);
    const char* const source = static_cast<const char*>(from);
    size_t copied = 0;
    if (width >= 4) {
        const bool asynchronous = __isShared(to) != 0 && __isGlobal(from) != 0;
        copied = bytes / width * width;
        for (size_t at = rank * width; at < copied; at += threads * width) {
            if (asynchronous) {
                ct_copy_async(target + at, source + at, width);
            } else {
                ct_copy_now(target + at, source + at, width);
            }
        }
    }
    for (size_t at = copied + rank; at < bytes; at += threads) target[at] = source[at];
}

namespace cuda {

// A number of bytes; both addresses and the number are multiples of the alignment.
template <size_t Alignment>
struct aligned_size_t {
    static constexpr size_t align = Alignment;
    size_t value;

    constexpr explicit aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};

}  // namespace cuda

// The width that the alignment of a copy allows. A copy below 4 bytes is not asynchronous on the hardware.
template <size_t Alignment>
constexpr unsigned ct_promised_width = Alignment >= 16  ? 16
                                       : Alignment >= 8 ? 8
                                       : Alignment >= 4 ? 4
                                                        : 1;

// The alignment that the destination's type and the shape promise together. void promises none.
template <class To, class Shape>
struct ct_promised_alignment {
    static constexpr size_t value = alignof(To);
};
template <class Shape>
struct ct_promised_alignment<void, Shape> {
    static constexpr size_t value = 1;
};
template <class To, size_t Alignment>
struct ct_promised_alignment<To, cuda::aligned_size_t<Alignment>> {
    static constexpr size_t of_type = ct_promised_alignment<To, size_t>::value;
    static constexpr size_t value = Alignment > of_type ? Alignment : of_type;
};
template <size_t Alignment>
struct ct_promised_alignment<void, cuda::aligned_size_t<Alignment>> {
    static constexpr size_t value = Alignment;
};

template <class To, class Shape>
constexpr unsigned ct_promised_by = ct_promised_width<ct_promised_alignment<To, Shape>::value>;
