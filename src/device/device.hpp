// The dialect that kernels are written in: plain CUDA C++. nvcc compiles a kernel file for the GPU; g++ compiles the
// same file for the emulator, and this header then supplies CUDA's words. The one difference to CUDA: a kernel is
// launched by launch(shape, kernel, arguments...), because no host compiler parses <<<>>>.
//
// Kernel files put everything into namespace CORNERTURN_KERNELS, which lies in one that the build names: one for each
// build, so that both can live in one program, and for each rung's file, so that kernels of one name in two files stay
// two, and no helper resolves to another's copy (cmake/Kernels.cmake).
//
// For the emulator: __syncwarp and shuffles order the lanes of a warp as if all took part, whatever their mask, when
// races are looked for. Shared arrays are declared in the kernel function itself, not in a __device__ function that it
// calls (pass a pointer); kernels use no standard containers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(CORNERTURN_EMULATED)

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

#define threadIdx (unpack(::cornerturn::emulator::built_in.thread_index))
#define blockIdx (unpack(::cornerturn::emulator::built_in.block_index))
#define blockDim (unpack(::cornerturn::emulator::built_in.block_dim))
#define gridDim (unpack(::cornerturn::emulator::built_in.grid_dim))

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

__forceinline__ uint3 unpack(std::uint64_t packed) {
    return {static_cast<unsigned>(packed), static_cast<unsigned>(packed >> 32 & 0xffff),
            static_cast<unsigned>(packed >> 48)};
}

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

// Loads through L2 so that the line is the last to be evicted, and its kin: see the GPU's below.
template <class T>
__forceinline__ T load_kept(const T* address) {
    return *address;
}
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

// Stores by what the L2 is to do with a result of so many bytes: see the GPU's below.
struct result_policy {
    __forceinline__ explicit result_policy(std::int64_t) {}
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

// Where a kernel that is launched early waits: see the GPU's below.
__forceinline__ void wait_for_work_ahead() {}

// An address in shared memory, as asynchronous copies name it, and these copies: see the GPU's below. Here they are
// done at once.
struct shared_address {
    float* address;
    shared_address operator+(int floats) const { return {address + floats}; }
    bool operator==(const shared_address&) const = default;
};
__forceinline__ shared_address as_shared(float* shared) { return {shared}; }
template <int kFloats>
__forceinline__ void copy_async(shared_address to, const float* from) {
    if constexpr (kFloats == 4) {
        const float4 value = *reinterpret_cast<const float4*>(from);
        emulator::store_copied(to.address, &value, sizeof value);
    } else {
        const float value = *from;
        emulator::store_copied(to.address, &value, sizeof value);
    }
}
template <int kFloats>
__forceinline__ void copy_async_or_zero(shared_address to, const float* from, bool there) {
    constexpr float kNothing[kFloats] = {};
    if (there)
        copy_async<kFloats>(to, from);
    else
        emulator::store_copied(to.address, kNothing, sizeof kNothing);
}
// 16 bytes, both sides aligned to that.
template <bool kWholeLines>
__forceinline__ void copy_vector_async_if(bool condition, void* to, const void* from) {
    if (!condition) return;
    const float4 value = *static_cast<const float4*>(from);
    emulator::store_copied(to, &value, sizeof value);
}
__forceinline__ void end_of_copies() {}
template <int kLater>
__forceinline__ void wait_for_copies() {}

// While one is alive, launches are a step of what is launched after it.
using step_before = emulator::step_scope;

__forceinline__ void __syncthreads() { emulator::switch_fibers(emulator::sync_threads()); }
__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) { emulator::switch_fibers(emulator::sync_warp(mask)); }

template <class T>
__forceinline__ T exchange(unsigned mask, T value, int operand, int width, emulator::shuffle_kind kind) {
    static_assert(sizeof(T) <= 8, "shuffles move 4 or 8 bytes");
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    emulator::switch_fibers(emulator::shuffle(mask, bits, operand, width, kind));
    bits = emulator::shuffled();
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    return exchange(mask, value, source, width, emulator::shuffle_kind::index);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return exchange(mask, value, static_cast<int>(delta), width, emulator::shuffle_kind::up);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    return exchange(mask, value, static_cast<int>(delta), width, emulator::shuffle_kind::down);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
    return exchange(mask, value, lanes, width, emulator::shuffle_kind::exclusive_or);
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
[[gnu::noipa]] void leave_fiber(Parameters...) {
    emulator::resume(emulator::leave_fiber());
}

// Runs the kernel and returns when it has finished. Throws emulator::hazard where it breaks a rule of the machine.
template <class... Parameters, class... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    // Not instrumented: reading the captured arguments is no access of the kernel's.
    const auto run_lanes = [=]() __attribute__((no_sanitize("thread"), always_inline)) {
        for (auto* step = kernel;;) {
            step(arguments...);
            step = emulator::end_lane() ? kernel : &leave_fiber<Parameters...>;
        }
    };
    const auto entry = [](const void* closure) __attribute__((no_sanitize("thread"))) {
        (*static_cast<decltype(&run_lanes)>(closure))();
    };
    emulator::launch({{shape.grid.x, shape.grid.y, shape.grid.z},
                      {shape.block.x, shape.block.y, shape.block.z},
                      shape.dynamic_shared_bytes,
                      reinterpret_cast<const void*>(kernel),
                      shape.tiles},
                     entry, &run_lanes);
}

}  // namespace CORNERTURN_KERNELS

#else  // nvcc

#include "device/cuda_check.hpp"
#include "emulator/launch.hpp"

#ifndef CORNERTURN_BUILD
#define CORNERTURN_BUILD cuda_build
#endif
#define CORNERTURN_KERNELS cornerturn::inline CORNERTURN_BUILD::dialect
#define CORNERTURN_UNROLL _Pragma("unroll")
// A kernel for blocks of so many threads, of which `resident` at a time shall fit a multiprocessor: as many registers
// as that leaves, or as the multiprocessor's own limit on threads does.
#define CORNERTURN_RESIDENT(threads, resident) \
    __launch_bounds__(threads,                 \
                      ((resident) < CORNERTURN_MOST_RESIDENT ? (resident) : CORNERTURN_MOST_RESIDENT) / (threads))
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define CORNERTURN_MOST_RESIDENT 1024
#elif defined(__CUDA_ARCH__) && ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100)
#define CORNERTURN_MOST_RESIDENT 1536
#else
#define CORNERTURN_MOST_RESIDENT 2048
#endif
#define CORNERTURN_PRAGMA(text) _Pragma(#text)
#define CORNERTURN_UNROLL_BY(times) CORNERTURN_PRAGMA(unroll times)
#define CORNERTURN_DYNAMIC_SHARED(type, name)                                   \
    extern __shared__ __align__(128) unsigned char cornerturn_dynamic_shared[]; \
    type* const name = reinterpret_cast<type*>(cornerturn_dynamic_shared)

namespace CORNERTURN_KERNELS {

inline constexpr bool kEmulated = false;

struct launch_shape {
    dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    const emulator::tiling* tiles = nullptr;  // of no use to the GPU
    bool early = false;  // may be started while the kernel ahead ends: this one calls wait_for_work_ahead()
    // What a multiprocessor's blocks take together: the L1 cache gets the rest. 0: as CUDA decides.
    std::size_t shared_bytes_at_a_time = 0;
};

// Loads by what the L2 is to do with the lines, which the host decides: those that are kept are the last to be evicted,
// others are ordinary. For data that is read once this keeps no data: it makes lines that were written leave the L2
// soon, in the order they came, which memory likes (docs/experiments.md), unless result_policy keeps them, too.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ std::uint64_t evicted_last() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ std::uint64_t evicted_normally() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

class read_policy {
public:
    __device__ __forceinline__ explicit read_policy(bool kept) : policy_(kept ? evicted_last() : evicted_normally()) {}

    template <class T>
    __device__ __forceinline__ T load(const T* address) const {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
        T value;
        if constexpr (sizeof(T) == 4) {
            unsigned v;
            asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(v) : "l"(address), "l"(policy_));
            memcpy(&value, &v, sizeof v);
        } else if constexpr (sizeof(T) == 8) {
            uint2 v;
            asm volatile("ld.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                         : "=r"(v.x), "=r"(v.y)
                         : "l"(address), "l"(policy_));
            memcpy(&value, &v, sizeof v);
        } else {
            uint4 v;
            asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(address), "l"(policy_));
            memcpy(&value, &v, sizeof v);
        }
        return value;
    }
    // And the L2 is to fetch the whole line of 128 bytes: for rows that are not aligned, where a block needs lines in
    // part, and another block the rest, soon.
    __device__ __forceinline__ uint2 load_line(const uint2* address) const {
        uint2 value;
        asm volatile("ld.global.L2::cache_hint.L2::128B.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(value.x), "=r"(value.y)
                     : "l"(address), "l"(policy_));
        return value;
    }
    // Or 0: without a branch, which nvcc makes of an `if` around such a load.
    __device__ __forceinline__ unsigned load_if(bool condition, const unsigned* address) const {
        unsigned value;
        asm volatile(
            "{ .reg .pred p; setp.ne.u32 p, %3, 0; mov.u32 %0, 0; @p ld.global.L2::cache_hint.u32 %0, [%1], %2; }"
            : "=&r"(value)
            : "l"(address), "l"(policy_), "r"(static_cast<unsigned>(condition)));
        return value;
    }

private:
    std::uint64_t policy_;
};
#else
struct read_policy {
    __device__ __forceinline__ explicit read_policy(bool) {}
    template <class T>
    __device__ __forceinline__ T load(const T* address) const {
        return *address;
    }
    __device__ __forceinline__ uint2 load_line(const uint2* address) const { return *address; }
    __device__ __forceinline__ unsigned load_if(bool condition, const unsigned* address) const {
        return condition ? *address : 0;
    }
};
#endif

// Keeps the line.
template <class T>
__device__ __forceinline__ T load_kept(const T* address) {
    return read_policy(true).load(address);
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

// A pointer, or a distance, that the compiler is to keep and step by, instead of a sum for each address that a loop
// makes of it.
__device__ __forceinline__ std::int64_t kept_distance(std::int64_t bytes) {
    asm("" : "+l"(bytes));
    return bytes;
}
template <class T>
__device__ __forceinline__ T* kept_pointer(T* pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

// What a kernel that is launched early calls before it touches memory: waits until the kernel ahead of it in the stream
// has ended and all that it wrote can be seen (programmatic dependent launch, from Hopper on). Nothing is told to what
// follows, which begins when this kernel has ended.
__device__ __forceinline__ void wait_for_work_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Of meaning to the emulator alone.
struct step_before {
    step_before() {}
};

// An address in shared memory, as asynchronous copies name it.
struct shared_address {
    unsigned address;
    __device__ __forceinline__ shared_address operator+(int floats) const {
        return {address + static_cast<unsigned>(floats) * 4};
    }
    __device__ __forceinline__ bool operator==(const shared_address& other) const { return address == other.address; }
};
__device__ __forceinline__ shared_address as_shared(float* shared) {
    return {static_cast<unsigned>(__cvta_generic_to_shared(shared))};
}

// Copies 1 or 4 floats from global to shared memory, both aligned to that, without a register between. The copies of a
// thread up to end_of_copies() are a group; wait_for_copies<kLater>() waits for all groups but the last kLater. Before
// sm_80 they are done at once. The second writes zeros where nothing is there, and reads nothing then.
template <int kFloats>
__device__ __forceinline__ void copy_async(shared_address to, const float* from) {
    static_assert(kFloats == 1 || kFloats == 4);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (kFloats == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to.address), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to.address), "l"(from) : "memory");
#else
    if constexpr (kFloats == 4) {
        const float4 value = *reinterpret_cast<const float4*>(from);
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to.address), "f"(value.x), "f"(value.y),
                     "f"(value.z), "f"(value.w)
                     : "memory");
    } else {
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address), "f"(*from) : "memory");
    }
#endif
}
template <int kFloats>
__device__ __forceinline__ void copy_async_or_zero(shared_address to, const float* from, bool there) {
    static_assert(kFloats == 1 || kFloats == 4);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const auto absent = static_cast<unsigned>(!there);
    if constexpr (kFloats == 4)
        asm volatile(
            "{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(to.address),
            "l"(from), "r"(absent)
            : "memory");
    else
        asm volatile(
            "{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }" ::"r"(to.address),
            "l"(from), "r"(absent)
            : "memory");
#else
    if (there) {
        copy_async<kFloats>(to, from);
    } else {
        CORNERTURN_UNROLL
        for (unsigned i = 0; i < kFloats; ++i)
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address + 4 * i), "f"(0.0f) : "memory");
    }
#endif
}
// 16 bytes, both sides aligned to that, if the condition holds. kWholeLines: the L2 is to fetch all 128 bytes of a
// line. (With a hint on what the L2 keeps, ptxas of CUDA 13.0 makes an instruction, [R + UR0] with desc[UR1], that an
// H200 calls illegal: not always, but it cannot be relied on.)
template <bool kWholeLines>
__device__ __forceinline__ void copy_vector_async_if(bool condition, void* to, const void* from) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const auto to_shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (!condition) return;
    if constexpr (kWholeLines) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
    }
#else
    if (condition) *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
#endif
}
__device__ __forceinline__ void end_of_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kLater>
__device__ __forceinline__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
#endif
}

// Launches the kernel on device::current_stream() and returns at once. Throws cuda_error if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    const auto* const address = reinterpret_cast<const void*>(kernel);
    constexpr std::size_t kAlwaysAllowed = 48 << 10;  // of dynamic shared memory
    const bool large = shape.dynamic_shared_bytes > kAlwaysAllowed, divided = shape.shared_bytes_at_a_time > 0;
    const int on_device = large || shape.early || divided ? device::launch_device() : 0;
    if (large) device::allow_dynamic_shared(address, static_cast<int>(shape.dynamic_shared_bytes), on_device);
    cudaLaunchAttribute wishes[2] = {};
    unsigned count = 0;
    if (shape.early && device::waits_for_work_ahead(address, on_device)) {
        wishes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        wishes[count++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (divided) {
        wishes[count].id = cudaLaunchAttributePreferredSharedMemoryCarveout;
        wishes[count++].val.sharedMemCarveout = device::percent_of_shared(shape.shared_bytes_at_a_time, on_device);
    }
    cudaLaunchConfig_t config{};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared_bytes;
    config.stream = device::current_stream();
    config.attrs = wishes;
    config.numAttrs = count;
    // Not by <<<>>>, which would tell a launch's error only along with what others have left behind.
    const auto start = [&](Parameters... parameters) {
        void* all[] = {&parameters..., nullptr};
        CORNERTURN_CUDA(cudaLaunchKernelExC(&config, address, all));
    };
    start(arguments...);
}

}  // namespace CORNERTURN_KERNELS

#endif
