// CUDA's built-ins that need the emulator: indices, barriers, warp exchanges, atomics, fences, loads and stores with
// hints, and the function that a launch <<<...>>> becomes.
#pragma once

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cornerturn/emulator/kernel_calls.hpp"
#include "cornerturn_cuda/base.h"
#include "driver_types.h"
#include "vector_types.h"

extern __thread const uint3 threadIdx __asm__("cornerturn_thread_index");
extern __thread const uint3 blockIdx __asm__("cornerturn_block_index");
extern __thread const uint3 blockDim __asm__("cornerturn_block_dim");
extern __thread const uint3 gridDim __asm__("cornerturn_grid_dim");
constexpr int warpSize = 32;
// The memory of `extern __shared__` arrays.
extern __thread unsigned char ct_dynamic_shared[] __asm__("cornerturn_dynamic_shared")
    __attribute__((__aligned__(1024)));

// Stores the configuration of a launch for the next kernel that this thread calls. kernel<<<grid, block, shared,
// stream>>>(...) becomes ct_push_launch(grid, block, shared, stream) ? (void)0 : kernel(...). It returns true if the
// kernel must not be called, because an earlier launch has failed for good.
bool ct_push_launch(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);

// The same for a launch in a kernel: stores the launched kernel and returns the function to call with its arguments.
extern "C" void cornerturn_launch_from_kernel();
void ct_note_launched(const void* kernel) noexcept;
template <class... ct_parameters>
CT_INLINE auto ct_launched_by_kernel(void (*kernel)(ct_parameters...)) {
    ct_note_launched(reinterpret_cast<const void*>(kernel));
    return reinterpret_cast<void (*)(ct_parameters...)>(&cornerturn_launch_from_kernel);
}

#define CT_EMULATOR ::cornerturn::emulator

[[noreturn]] CT_INLINE void ct_unsupported(const char* feature) { CT_EMULATOR::unsupported_feature(feature); }
CT_INLINE void ct_yield() { CT_EMULATOR::switch_fibers(CT_EMULATOR::yield()); }
CT_INLINE void ct_sync_grid() { CT_EMULATOR::switch_fibers(CT_EMULATOR::sync_grid()); }
CT_INLINE bool ct_is_cooperative() { return CT_EMULATOR::is_cooperative(); }
CT_INLINE void ct_store_copied(void* to, const void* value, unsigned bytes) {
    CT_EMULATOR::store_copied(to, value, bytes);
}
CT_INLINE void ct_end_of_copies() { CT_EMULATOR::end_of_copies(); }
CT_INLINE void ct_wait_for_copies(unsigned later) { CT_EMULATOR::wait_for_copies(later); }

// ---- Barriers and fences ----

CT_INLINE void __syncthreads() { CT_EMULATOR::switch_fibers(CT_EMULATOR::sync_threads()); }
CT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { CT_EMULATOR::switch_fibers(CT_EMULATOR::sync_warp(mask)); }
CT_INLINE int __syncthreads_count(int predicate) {
    CT_EMULATOR::switch_fibers(CT_EMULATOR::sync_threads_count(predicate != 0));
    return static_cast<int>(CT_EMULATOR::received());
}
CT_INLINE int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) != 0; }
CT_INLINE int __syncthreads_and(int predicate) { return __syncthreads_count(!predicate) == 0; }
CT_INLINE void __threadfence() { CT_EMULATOR::fence(); }
CT_INLINE void __threadfence_block() { CT_EMULATOR::fence(); }
CT_INLINE void __threadfence_system() { CT_EMULATOR::fence(); }

// ---- Warp exchanges ----

CT_INLINE unsigned long long ct_exchange(unsigned mask, unsigned long long value, CT_EMULATOR::exchange_kind kind,
                                         int operand = 0, int width = 32) {
    CT_EMULATOR::switch_fibers(CT_EMULATOR::exchange(mask, value, kind, operand, width));
    return CT_EMULATOR::received();
}

template <class T>
CT_INLINE unsigned long long ct_bits(T value) {
    static_assert(sizeof(T) <= 8, "a value of a warp function or of an atomic has at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
CT_INLINE T ct_of_bits(unsigned long long bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
CT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    return ct_of_bits<T>(ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::index, source, width));
}
template <class T>
CT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return ct_of_bits<T>(
        ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::up, static_cast<int>(delta), width));
}
template <class T>
CT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return ct_of_bits<T>(
        ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::down, static_cast<int>(delta), width));
}
template <class T>
CT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
    return ct_of_bits<T>(ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::exclusive_or, lanes, width));
}

CT_INLINE unsigned __activemask() {
    CT_EMULATOR::switch_fibers(CT_EMULATOR::active_lanes());
    return static_cast<unsigned>(CT_EMULATOR::received());
}
CT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
    return static_cast<unsigned>(ct_exchange(mask, predicate != 0, CT_EMULATOR::exchange_kind::ballot));
}
CT_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
CT_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T>
CT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
    return static_cast<unsigned>(ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::match_any));
}
template <class T>
CT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
    const auto all = static_cast<unsigned>(ct_exchange(mask, ct_bits(value), CT_EMULATOR::exchange_kind::match_all));
    *predicate = all != 0;
    return all;
}

#define CT_REDUCE(name, type, result, kind)                                                                            \
    CT_INLINE result name(unsigned mask, type value) {                                                                 \
        return static_cast<result>(ct_exchange(mask, static_cast<unsigned>(value), CT_EMULATOR::exchange_kind::kind)); \
    }
CT_REDUCE(__reduce_add_sync, unsigned, unsigned, add)
CT_REDUCE(__reduce_add_sync, int, int, add)
CT_REDUCE(__reduce_min_sync, unsigned, unsigned, least)
CT_REDUCE(__reduce_min_sync, int, int, least_signed)
CT_REDUCE(__reduce_max_sync, unsigned, unsigned, most)
CT_REDUCE(__reduce_max_sync, int, int, most_signed)
CT_REDUCE(__reduce_and_sync, unsigned, unsigned, bit_and)
CT_REDUCE(__reduce_or_sync, unsigned, unsigned, bit_or)
CT_REDUCE(__reduce_xor_sync, unsigned, unsigned, bit_xor)
#undef CT_REDUCE

// ---- Atomics ----

template <class T>
CT_INLINE T ct_atomic(CT_EMULATOR::atomic_kind kind, T* address, T value, T expected = T{}) {
    CT_EMULATOR::atomic(kind, address, sizeof(T), ct_bits(value), ct_bits(expected));
    return ct_of_bits<T>(CT_EMULATOR::atomic_old());
}
#define CT_ATOMIC(name, type, kind)                                                         \
    CT_INLINE type name(type* address, type value) {                                        \
        return ct_atomic<type>(CT_EMULATOR::atomic_kind::kind, address, value);             \
    }                                                                                       \
    CT_INLINE type name##_block(type* address, type value) { return name(address, value); } \
    CT_INLINE type name##_system(type* address, type value) { return name(address, value); }
CT_ATOMIC(atomicAdd, int, add)
CT_ATOMIC(atomicAdd, unsigned, add)
CT_ATOMIC(atomicAdd, unsigned long long, add)
CT_ATOMIC(atomicAdd, float, add_f32)
CT_ATOMIC(atomicAdd, double, add_f64)
#define CT_ATOMIC_FLOATS(name)                                                            \
    CT_INLINE float2 name(float2* address, float2 value) {                                \
        CT_EMULATOR::atomic_add_floats(&address->x, 2, ct_bits(value), 0);                \
        return ct_of_bits<float2>(CT_EMULATOR::atomic_old_floats(0));                     \
    }                                                                                     \
    CT_INLINE float4 name(float4* address, float4 value) {                                \
        CT_EMULATOR::atomic_add_floats(&address->x, 4, ct_bits(float2{value.x, value.y}), \
                                       ct_bits(float2{value.z, value.w}));                \
        const float2 first = ct_of_bits<float2>(CT_EMULATOR::atomic_old_floats(0));       \
        const float2 second = ct_of_bits<float2>(CT_EMULATOR::atomic_old_floats(1));      \
        return {first.x, first.y, second.x, second.y};                                    \
    }
CT_ATOMIC_FLOATS(atomicAdd)
CT_ATOMIC_FLOATS(atomicAdd_block)
CT_ATOMIC_FLOATS(atomicAdd_system)
#undef CT_ATOMIC_FLOATS
CT_ATOMIC(atomicExch, int, exchange)
CT_ATOMIC(atomicExch, unsigned, exchange)
CT_ATOMIC(atomicExch, unsigned long long, exchange)
CT_ATOMIC(atomicExch, float, exchange)
CT_ATOMIC(atomicMin, int, least_signed)
CT_ATOMIC(atomicMin, unsigned, least)
CT_ATOMIC(atomicMin, long long, least_signed)
CT_ATOMIC(atomicMin, unsigned long long, least)
CT_ATOMIC(atomicMax, int, most_signed)
CT_ATOMIC(atomicMax, unsigned, most)
CT_ATOMIC(atomicMax, long long, most_signed)
CT_ATOMIC(atomicMax, unsigned long long, most)
CT_ATOMIC(atomicInc, unsigned, increment)
CT_ATOMIC(atomicDec, unsigned, decrement)
#define CT_ATOMIC_BITS(name, kind)  \
    CT_ATOMIC(name, int, kind)      \
    CT_ATOMIC(name, unsigned, kind) \
    CT_ATOMIC(name, unsigned long long, kind)
CT_ATOMIC_BITS(atomicAnd, bit_and)
CT_ATOMIC_BITS(atomicOr, bit_or)
CT_ATOMIC_BITS(atomicXor, bit_xor)
#undef CT_ATOMIC_BITS
#define CT_SUBTRACT(name)                                                               \
    CT_INLINE int name(int* address, int value) {                                       \
        return atomicAdd(address, static_cast<int>(0u - static_cast<unsigned>(value))); \
    }                                                                                   \
    CT_INLINE unsigned name(unsigned* address, unsigned value) { return atomicAdd(address, 0u - value); }
CT_SUBTRACT(atomicSub)
CT_SUBTRACT(atomicSub_block)
CT_SUBTRACT(atomicSub_system)
#undef CT_SUBTRACT
#define CT_COMPARE(type)                                                                     \
    CT_INLINE type atomicCAS(type* address, type expected, type value) {                     \
        return ct_atomic<type>(CT_EMULATOR::atomic_kind::compare, address, value, expected); \
    }                                                                                        \
    CT_INLINE type atomicCAS_block(type* address, type expected, type value) {               \
        return atomicCAS(address, expected, value);                                          \
    }                                                                                        \
    CT_INLINE type atomicCAS_system(type* address, type expected, type value) {              \
        return atomicCAS(address, expected, value);                                          \
    }
CT_COMPARE(unsigned short)
CT_COMPARE(int)
CT_COMPARE(unsigned)
CT_COMPARE(unsigned long long)
#undef CT_COMPARE

// atomicAdd for the types that cuda_fp16.h and cuda_bf16.h define.
struct __half;
struct __half2;
struct __nv_bfloat16;
struct __nv_bfloat162;
template <class T>
struct ct_small_add;
template <>
struct ct_small_add<__half> {
    static constexpr auto kind = CT_EMULATOR::atomic_kind::add_f16;
};
template <>
struct ct_small_add<__half2> {
    static constexpr auto kind = CT_EMULATOR::atomic_kind::add_f16x2;
};
template <>
struct ct_small_add<__nv_bfloat16> {
    static constexpr auto kind = CT_EMULATOR::atomic_kind::add_bf16;
};
template <>
struct ct_small_add<__nv_bfloat162> {
    static constexpr auto kind = CT_EMULATOR::atomic_kind::add_bf16x2;
};
template <class T>
struct ct_same {
    using type = T;
};
template <class T, CT_EMULATOR::atomic_kind kKind = ct_small_add<T>::kind>
CT_INLINE T atomicAdd(T* address, typename ct_same<T>::type value) {
    return ct_atomic<T>(kKind, address, value);
}

// ---- Loads and stores with hints: they count like plain loads and stores ----

#define CT_LOAD(name)                    \
    template <class T>                   \
    CT_INLINE T name(const T* address) { \
        return *address;                 \
    }
CT_LOAD(__ldg)
CT_LOAD(__ldca)
CT_LOAD(__ldcg)
CT_LOAD(__ldcs)
CT_LOAD(__ldlu)
CT_LOAD(__ldcv)
#undef CT_LOAD
#define CT_STORE(name)                                                 \
    template <class T>                                                 \
    CT_INLINE void name(T* address, typename ct_same<T>::type value) { \
        *address = value;                                              \
    }
CT_STORE(__stwb)
CT_STORE(__stcg)
CT_STORE(__stcs)
CT_STORE(__stwt)
#undef CT_STORE

// ---- Others ----

CT_INLINE long long clock64() { return static_cast<long long>(__builtin_ia32_rdtsc()); }
CT_INLINE unsigned long long ct_global_timer() { return __builtin_ia32_rdtsc(); }
CT_INLINE unsigned ct_thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
CT_INLINE unsigned ct_lane() { return ct_thread() % 32; }
CT_INLINE unsigned ct_warp() { return ct_thread() / 32; }
CT_INLINE void __nanosleep(unsigned) { ct_yield(); }
[[noreturn]] CT_INLINE void __trap() { CT_EMULATOR::trap(); }
CT_INLINE void __brkpt() {}
CT_INLINE void __prof_trigger(int) {}
template <class T>
CT_INLINE void ct_assume(T) {}
#define __builtin_assume(condition) ((void)0)
#define __nv_is_extended_device_lambda_closure_type(type) false
CT_INLINE size_t __cvta_generic_to_shared(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
CT_INLINE void* __cvta_shared_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
CT_INLINE size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
CT_INLINE void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
CT_INLINE unsigned ct_is_shared(const void* pointer) { return CT_EMULATOR::is_shared(pointer); }
CT_INLINE unsigned __isShared(const void* pointer) { return CT_EMULATOR::is_shared(pointer); }
CT_INLINE unsigned __isGlobal(const void* pointer) { return CT_EMULATOR::is_global(pointer); }
