// What kernels ask of the L2 for the lines that they load and store. The emulator has none: there, these are plain
// loads and stores.
#pragma once

#include "device/device.hpp"

namespace CORNERTURN_KERNELS {

#if defined(CORNERTURN_EMULATED)

template <class T>
__forceinline__ T load_kept(const T* address) {
    return *address;
}
__forceinline__ uint2 load_kept_line(const uint2* address) { return *address; }
__forceinline__ unsigned load_kept_if(bool condition, const unsigned* address) { return condition ? *address : 0; }

struct result_policy {
    __forceinline__ explicit result_policy(std::int64_t) {}
    template <class T>
    __forceinline__ void store(T* address, T value) const {
        *address = value;
    }
};

#else

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// How load_kept() and those below want the L2 to treat what they load or store.
__device__ __forceinline__ std::uint64_t evicted_last() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
#endif

// Loads through L2 so that the line is the last to be evicted. For data that is read once this keeps no data: it makes
// lines that were written leave the L2 soon, in the order they came, which memory likes (docs/experiments.md), unless
// result_policy keeps them, too.
template <class T>
__device__ __forceinline__ T load_kept(const T* address) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    T value;
    const std::uint64_t policy = evicted_last();
    if constexpr (sizeof(T) == 4) {
        unsigned v;
        asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(address), "l"(policy));
        memcpy(&value, &v, sizeof v);
    } else if constexpr (sizeof(T) == 8) {
        uint2 v;
        asm volatile("ld.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(v.x), "=r"(v.y)
                     : "l"(address), "l"(policy));
        memcpy(&value, &v, sizeof v);
    } else {
        uint4 v;
        asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(address), "l"(policy));
        memcpy(&value, &v, sizeof v);
    }
    return value;
#else
    return *address;
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// The store to load_kept().
template <class T>
__device__ __forceinline__ void store_kept(T* address, T value) {
    static_assert(sizeof(T) == 8 || sizeof(T) == 16);
    const std::uint64_t policy = evicted_last();
    if constexpr (sizeof(T) == 8) {
        uint2 v;
        memcpy(&v, &value, sizeof v);
        asm volatile("st.global.L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;" ::"l"(address), "r"(v.x), "r"(v.y),
                     "l"(policy)
                     : "memory");
    } else {
        uint4 v;
        memcpy(&v, &value, sizeof v);
        asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(address), "r"(v.x), "r"(v.y),
                     "r"(v.z), "r"(v.w), "l"(policy)
                     : "memory");
    }
}
#endif

// As load_kept(), and the L2 is to fetch the whole line of 128 bytes: for rows that are not aligned, where a block
// needs lines in part, and another block the rest, soon.
__device__ __forceinline__ uint2 load_kept_line(const uint2* address) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    uint2 value;
    asm volatile("ld.global.L2::cache_hint.L2::128B.v2.u32 {%0, %1}, [%2], %3;"
                 : "=r"(value.x), "=r"(value.y)
                 : "l"(address), "l"(evicted_last()));
    return value;
#else
    return *address;
#endif
}

// As load_kept(), or 0: without a branch, which nvcc makes of an `if` around such a load.
__device__ __forceinline__ unsigned load_kept_if(bool condition, const unsigned* address) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    unsigned value;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; mov.u32 %0, 0; @p ld.global.L2::cache_hint.u32 %0, [%1], %2; }"
                 : "=&r"(value)
                 : "l"(address), "l"(evicted_last()), "r"(static_cast<unsigned>(condition)));
    return value;
#else
    return condition ? *address : 0;
#endif
}

// Stores by what the L2 is to do with a result of so many bytes, on Hopper and its successors in data centers: of one
// up to ten times the L2 the last part stays there as long as it can, for what follows, and smaller ones do so anyway;
// a larger one leaves it in the order it was written. nvcc splits no such store.
class result_policy {
public:
    __device__ __forceinline__ explicit result_policy(std::int64_t bytes) : kept_(bytes > kInCache && bytes <= kKept) {}

    template <class T>
    __device__ __forceinline__ void store(T* address, T value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
        if (kept_) return store_kept(address, value);
#endif
        __stwb(address, value);
    }

private:
    static constexpr std::int64_t kInCache = 24 << 20, kKept = 512 << 20;
    bool kept_;
};

#endif

}  // namespace CORNERTURN_KERNELS
