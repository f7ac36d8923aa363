// CUDA's words for the emulator, compiled by g++. dialect_cuda.hpp explains the names that CUDA does not have.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/launch.hpp"

#ifndef CORNERTURN_BUILD
#define CORNERTURN_BUILD emulated
#endif
#define CORNERTURN_KERNELS cornerturn::inline CORNERTURN_BUILD::dialect

// noipa: g++ makes one copy of the kernel, with its own name, and calls it as written.
#define __global__ [[gnu::noipa]]
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define CORNERTURN_RESIDENT(threads, resident)
// Aligned to a row of banks, like the first shared array of a kernel on the GPU.
#define __shared__ [[gnu::aligned(128)]] static thread_local
#define CORNERTURN_DYNAMIC_SHARED(type, name) \
    type* const name = static_cast<type*>(::cornerturn::emulator::dynamic_shared())
#define CORNERTURN_UNROLL
#define CORNERTURN_UNROLL_BY(times)
// A loop that must be unrolled in the emulator too. If the lanes of a warp skip different iterations, each iteration
// must be an instruction of its own, as on the GPU. In other loops, the n-th iterations of all lanes count together.
#define CORNERTURN_UNROLL_APART(times) CORNERTURN_PRAGMA(GCC unroll times)
#define CORNERTURN_PRAGMA(words) _Pragma(#words)

// printf in a kernel writes to standard error (src/emulator/callbacks.cpp).
extern "C" int printf(const char* format, ...) __asm__("cornerturn_kernel_printf")
    __attribute__((format(printf, 1, 2)));

namespace CORNERTURN_KERNELS {

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
constexpr int warpSize = 32;
inline constexpr bool kEmulated = true;

// The emulator's variables, under CUDA's names.
extern thread_local constinit const uint3 threadIdx asm("cornerturn_thread_index");
extern thread_local constinit const uint3 blockIdx asm("cornerturn_block_index");
extern thread_local constinit const uint3 blockDim asm("cornerturn_block_dim");
extern thread_local constinit const uint3 gridDim asm("cornerturn_grid_dim");

// CUDA's vector types. Copying one is one access of its whole width: the build keeps g++ from splitting it.
#define CORNERTURN_VECTORS(type, name)                                        \
    struct alignas(2 * sizeof(type)) name##2 {                                \
        type x, y;                                                            \
    };                                                                        \
    struct name##3 {                                                          \
        type x, y, z;                                                         \
    };                                                                        \
    struct alignas(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)) name##4 {   \
        type x, y, z, w;                                                      \
    };                                                                        \
    __forceinline__ name##2 make_##name##2(type x, type y) { return {x, y}; } \
    __forceinline__ name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
CORNERTURN_VECTORS(unsigned char, uchar)
CORNERTURN_VECTORS(unsigned short, ushort)
CORNERTURN_VECTORS(int, int)
CORNERTURN_VECTORS(float, float)
CORNERTURN_VECTORS(double, double)
#undef CORNERTURN_VECTORS
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
__forceinline__ uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
__forceinline__ uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// CUDA's store with the usual caching. nvcc never splits it.
template <class T>
__forceinline__ void __stwb(T* address, T value) {
    *address = value;
}

// CUDA's functions. __byte_perm picks bytes of b:a by the nibbles of the selector. It is not inlined: inlined, it would
// be a third of the code in few_columns.cu and few_rows.cu. The others take 32 bits out of high:low, by shifts modulo
// 32 or up to 32.
[[gnu::noinline, gnu::const]] inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i)
        result |= static_cast<unsigned>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return result;
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}
__forceinline__ unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : static_cast<unsigned>((std::uint64_t{high} << 32 | low) << shift >> 32);
}
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
__forceinline__ int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }

// Loads with a hint to the L2: see dialect_cuda.hpp.
struct read_policy {
    __forceinline__ explicit read_policy(bool) {}
    template <class T>
    __forceinline__ T load(const T* address) const {
        return *address;
    }
    __forceinline__ uint2 load_line(const uint2* address) const { return *address; }
    __forceinline__ unsigned load_if(bool condition, const unsigned* address) const { return condition ? *address : 0; }
};

// Loads a word while another thread may write some of its bytes. The caller does not use those bytes. The emulator
// never reports a race of a volatile access.
__forceinline__ unsigned load_beside_writes(const unsigned* address, read_policy) {
    return *const_cast<const volatile unsigned*>(address);
}

// Loads and keeps the line in the L2. The emulator has no L2.
template <class T>
__forceinline__ T load_kept(const T* address) {
    return *address;
}

// Stores a result. The emulator has no L2.
struct result_policy {
    __forceinline__ explicit result_policy(bool) {}
    template <class T>
    __forceinline__ void store(T* address, T value) const {
        *address = value;
    }
};

// A pointer, or a distance, that stays in a register on the GPU.
template <class T>
__forceinline__ T* kept_pointer(T* pointer) {
    return pointer;
}
__forceinline__ std::int64_t kept_distance(std::int64_t bytes) { return bytes; }

// In the emulator, a kernel starts when the one before has ended, so nothing waits.
__forceinline__ void wait_for_work_ahead() {}
__forceinline__ void let_work_behind_begin() {}

// An address in shared memory for asynchronous copies, and these copies. In the emulator they read at once. Their
// writes are done when the thread waits for them.
struct shared_address {
    float* address;
    shared_address operator+(int floats) const { return {address + floats}; }
    bool operator==(const shared_address&) const = default;
};
__forceinline__ shared_address as_shared(float* shared) { return {shared}; }
template <int kFloats, bool = false>
__forceinline__ void copy_async_if(bool condition, shared_address to, const float* from) {
    if (!condition) return;
    if constexpr (kFloats == 4) {
        const float4 value = *reinterpret_cast<const float4*>(from);
        emulator::store_copied(to.address, &value, sizeof value);
    } else {
        const float value = *from;
        emulator::store_copied(to.address, &value, sizeof value);
    }
}
template <int kFloats, bool = false>
__forceinline__ void copy_async_or_zero(shared_address to, const float* from, bool there) {
    constexpr float kNothing[kFloats] = {};
    if (there)
        copy_async_if<kFloats>(true, to, from);
    else
        emulator::store_copied(to.address, kNothing, sizeof kNothing);
}
// Copies 16 aligned bytes.
__forceinline__ void copy_vector_async_if(bool condition, void* to, const void* from, bool) {
    if (!condition) return;
    const float4 value = *static_cast<const float4*>(from);
    emulator::store_copied(to, &value, sizeof value);
}
__forceinline__ void end_of_copies() { emulator::end_of_copies(); }
template <int kLater>
__forceinline__ void wait_for_copies() {
    emulator::wait_for_copies(kLater);
}

// While one exists, launches prepare a later launch.
using emulator::preparation_scope;

__forceinline__ void __syncthreads() { emulator::switch_fibers(emulator::sync_threads()); }
__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) { emulator::switch_fibers(emulator::sync_warp(mask)); }

template <class T>
__forceinline__ T exchange(unsigned mask, T value, int operand, int width, emulator::exchange_kind kind) {
    static_assert(sizeof(T) <= 8, "shuffles move 4 or 8 bytes");
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    emulator::switch_fibers(emulator::exchange(mask, bits, kind, operand, width));
    bits = emulator::received();
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    return exchange(mask, value, source, width, emulator::exchange_kind::index);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return exchange(mask, value, static_cast<int>(delta), width, emulator::exchange_kind::up);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return exchange(mask, value, static_cast<int>(delta), width, emulator::exchange_kind::down);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
    return exchange(mask, value, lanes, width, emulator::exchange_kind::exclusive_or);
}

struct launch_shape {
    dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    const emulator::tiling* tiles = nullptr;  // lets the emulator run one block of each class
    bool early = false;                       // ignored: a launch begins when the one before has ended
    std::size_t shared_bytes_at_a_time = 0;   // ignored
};

// Runs instead of the kernel when a fiber has no lane left to run: see emulator::kernel_entry.
template <class... Parameters>
[[gnu::noipa, gnu::no_sanitize_coverage]] void leave_fiber(Parameters...) {
    emulator::resume(emulator::leave_fiber());
}

template <class Closure>
[[gnu::no_sanitize("thread"), gnu::no_sanitize_coverage]] void call_closure(const void* closure) {
    (*static_cast<const Closure*>(closure))();
}

// Runs the kernel and returns when it has finished. Throws emulator::hazard if the kernel breaks a rule of the GPU.
template <class... Parameters, class... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    // Not instrumented: reading the captured arguments is not an access of the kernel.
    const auto run_lanes = [=]() __attribute__((no_sanitize("thread"), no_sanitize_coverage, always_inline)) {
        for (auto* step = kernel;;) {
            step(arguments...);
            step = emulator::end_lane() ? kernel : &leave_fiber<Parameters...>;
        }
    };
    emulator::launch({{shape.grid.x, shape.grid.y, shape.grid.z},
                      {shape.block.x, shape.block.y, shape.block.z},
                      shape.dynamic_shared_bytes,
                      reinterpret_cast<const void*>(kernel),
                      shape.tiles},
                     &call_closure<decltype(run_lanes)>, &run_lanes);
}

}  // namespace CORNERTURN_KERNELS
