// CUDA's words for the emulator, as g++ compiles them. What has no CUDA name is explained in dialect_cuda.hpp, where it
// does something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/launch.hpp"

#ifndef CORNERTURN_BUILD
#define CORNERTURN_BUILD emulated
#endif
#define CORNERTURN_KERNELS cornerturn::inline CORNERTURN_BUILD::dialect

// noipa: one copy of the kernel, with its own name, called as written.
#define __global__ [[gnu::noipa]]
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define CORNERTURN_RESIDENT(threads, resident)
// Aligned to a row of banks, as the first shared array of a kernel is on the GPU.
#define __shared__ [[gnu::aligned(128)]] static thread_local
#define CORNERTURN_DYNAMIC_SHARED(type, name) \
    type* const name = static_cast<type*>(::cornerturn::emulator::dynamic_shared())
#define CORNERTURN_UNROLL
#define CORNERTURN_UNROLL_BY(times)
// A loop that is unrolled here, too: where the lanes of a warp skip different iterations, each iteration must be an
// instruction of its own, as on the GPU. Of others the n-th pass of one lane counts with the n-th pass of another.
#define CORNERTURN_UNROLL_APART(times) CORNERTURN_PRAGMA(GCC unroll times)
#define CORNERTURN_PRAGMA(words) _Pragma(#words)

// A kernel's own text goes to standard error (src/emulator/callbacks.cpp).
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

// The emulator's, by the names of CUDA.
extern thread_local constinit const uint3 threadIdx asm("cornerturn_thread_index");
extern thread_local constinit const uint3 blockIdx asm("cornerturn_block_index");
extern thread_local constinit const uint3 blockDim asm("cornerturn_block_dim");
extern thread_local constinit const uint3 gridDim asm("cornerturn_grid_dim");

// CUDA's vector types. A copy of one is one access of its whole width: the build keeps g++ from splitting it.
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

// CUDA's store that caches as an ordinary one does, and that nvcc never splits.
template <class T>
__forceinline__ void __stwb(T* address, T value) {
    *address = value;
}

// CUDA's: bytes of b:a, picked by the nibbles of the selector (a call: inlined, it would be a third of what there is to
// compile in few_columns.cu and few_rows.cu); and 32 bits out of high:low, by shifts modulo 32 or up to 32.
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
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
__forceinline__ int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }

// Loads by what the L2 is to do with the lines: see the GPU's below.
struct read_policy {
    __forceinline__ explicit read_policy(bool) {}
    template <class T>
    __forceinline__ T load(const T* address) const {
        return *address;
    }
    __forceinline__ uint2 load_line(const uint2* address) const { return *address; }
    __forceinline__ unsigned load_if(bool condition, const unsigned* address) const { return condition ? *address : 0; }
};

// A word whose other bytes, of which the caller makes nothing, another thread may be writing: volatile accesses race
// with nobody here.
__forceinline__ unsigned load_beside_writes(const unsigned* address, read_policy) {
    return *const_cast<const volatile unsigned*>(address);
}

// Keeps the line.
template <class T>
__forceinline__ T load_kept(const T* address) {
    return *address;
}

// Stores a result; there is no L2 here.
struct result_policy {
    __forceinline__ explicit result_policy(bool) {}
    template <class T>
    __forceinline__ void store(T* address, T value) const {
        *address = value;
    }
};

// A pointer, or a distance, that the compiler is to keep and step by, instead of a sum for each address that a loop
// makes of it.
template <class T>
__forceinline__ T* kept_pointer(T* pointer) {
    return pointer;
}
__forceinline__ std::int64_t kept_distance(std::int64_t bytes) { return bytes; }

// Where a kernel that is launched early waits.
__forceinline__ void wait_for_work_ahead() {}
__forceinline__ void let_work_behind_begin() {}

// An address in shared memory, as asynchronous copies name it, and these copies. Here they read at once, and have
// written when they are waited for.
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
// 16 bytes, both sides aligned to that.
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

// While one is alive, launches are a step of what is launched after it.
using step_before = emulator::step_scope;

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
    bool early = false;                       // of no meaning here: a launch begins when the one before has ended
    std::size_t shared_bytes_at_a_time = 0;   // of none, too
};

// Runs instead of the kernel, when a fiber has no lane left to run: see emulator::kernel_entry.
template <class... Parameters>
[[gnu::noipa, gnu::no_sanitize_coverage]] void leave_fiber(Parameters...) {
    emulator::resume(emulator::leave_fiber());
}

template <class Closure>
[[gnu::no_sanitize("thread"), gnu::no_sanitize_coverage]] void call_closure(const void* closure) {
    (*static_cast<const Closure*>(closure))();
}

// Runs the kernel and returns when it has finished. Throws emulator::hazard where it breaks a rule of the machine.
template <class... Parameters, class... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    // Not instrumented: reading the captured arguments is no access of the kernel's.
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
