// What kernels use beyond CUDA's own words, for nvcc: hints to the L2, asynchronous copies, launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/host_device.hpp"
#include "device/cuda_check.hpp"
#include "emulator/launch.hpp"

#ifndef CORNERTURN_BUILD
#define CORNERTURN_BUILD cuda_build
#endif
#define CORNERTURN_KERNELS cornerturn::inline CORNERTURN_BUILD::dialect
#define CORNERTURN_UNROLL _Pragma("unroll")
// A kernel with blocks of `threads` threads, of which `resident` threads should fit a multiprocessor at a time. This
// limits its registers. If the multiprocessor takes fewer threads, its own limit counts.
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
#define CORNERTURN_UNROLL_APART(times) CORNERTURN_UNROLL_BY(times)
#define CORNERTURN_DYNAMIC_SHARED(type, name)                                   \
    extern __shared__ __align__(128) unsigned char cornerturn_dynamic_shared[]; \
    type* const name = reinterpret_cast<type*>(cornerturn_dynamic_shared)

namespace CORNERTURN_KERNELS {

inline constexpr bool kEmulated = false;

struct launch_shape {
    dim3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    const emulator::tiling* tiles = nullptr;  // the GPU ignores it
    bool early = false;  // may start while the kernel before it ends; this kernel then calls wait_for_work_ahead()
    // Shared memory that all blocks of a multiprocessor use together. The L1 cache gets the rest. 0: CUDA decides.
    std::size_t shared_bytes_at_a_time = 0;
};

// Loads with a hint to the L2, which the host chooses: lines are evicted last, or as usual. Data that is read once
// gains nothing from staying. But the hint makes dirty lines leave the L2 soon, in the order in which they came, which
// suits DRAM (docs/experiments/transpose.md). result_policy can keep the dirty lines too; then they stay.
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
    // This load also asks the L2 to fetch the whole line of 128 bytes. It is for rows that are not aligned: this block
    // needs a part of the line, and another block soon needs the rest.
    __device__ __forceinline__ uint2 load_line(const uint2* address) const {
        uint2 value;
        asm volatile("ld.global.L2::cache_hint.L2::128B.v2.u32 {%0, %1}, [%2], %3;"
                     : "=r"(value.x), "=r"(value.y)
                     : "l"(address), "l"(policy_));
        return value;
    }
    // Loads if the condition holds; otherwise gives 0. It has no branch; nvcc makes one of an `if` around such a load.
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

// Loads a word while another thread may write some of its bytes. The caller does not use those bytes.
__device__ __forceinline__ unsigned load_beside_writes(const unsigned* address, read_policy read) {
    return read.load(address);
}

// Loads and keeps the line in the L2.
template <class T>
__device__ __forceinline__ T load_kept(const T* address) {
    return read_policy(true).load(address);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// Stores and keeps the line in the L2, like load_kept().
template <class T>
__device__ __forceinline__ void store_kept(T* address, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
    const std::uint64_t policy = evicted_last();
    if constexpr (sizeof(T) == 4) {
        unsigned v;
        memcpy(&v, &value, sizeof v);
        asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(address), "r"(v), "l"(policy) : "memory");
    } else if constexpr (sizeof(T) == 8) {
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

// Stores a result, with or without the hint to keep its line in the L2 (keeps_result()). Only Hopper and its successors
// in data centers get the hint. nvcc never splits such a store.
class result_policy {
public:
    CORNERTURN_HOST_DEVICE constexpr explicit result_policy(bool kept) : kept_(kept) {}

    template <class T>
    __device__ __forceinline__ void store(T* address, T value) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
        if (kept_) return store_kept(address, value);
#endif
        __stwb(address, value);
    }

private:
    bool kept_;
};

// A pointer, or a distance, that stays in a register. The compiler then steps it, and does not compute each address of
// a loop anew.
__device__ __forceinline__ std::int64_t kept_distance(std::int64_t bytes) {
    asm("" : "+l"(bytes));
    return bytes;
}
template <class T>
__device__ __forceinline__ T* kept_pointer(T* pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

// A kernel that is launched early calls this before it touches memory (programmatic dependent launch, from Hopper on).
// It waits until the kernel before it in the stream has ended and all that it wrote is visible. Kernels after this one
// start when this one has ended, or earlier after let_work_behind_begin().
__device__ __forceinline__ void wait_for_work_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel in the stream start once all blocks have called this or have ended, if it is launched early. Its
// wait_for_work_ahead() waits only for this kernel, not for kernels before this one. So call this after
// wait_for_work_ahead().
__device__ __forceinline__ void let_work_behind_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Only the emulator uses this.
struct preparation_scope {
    preparation_scope() {}
};

// An address in shared memory, in the form that asynchronous copies need.
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

// Copy 1 or 4 floats from global to shared memory without a register. Both sides are aligned to the size of the copy.
// A thread's copies up to end_of_copies() are a group. wait_for_copies<kLater>() waits for all groups except the last
// kLater. Before sm_80, the copies are done at once. copy_async_if() copies if the condition holds, with a predicate.
// copy_async_or_zero() writes zeros where there is no data, and reads nothing then. kAround: the L2 fetches all 256
// bytes around the floats, which are needed soon. Copies of 16 bytes then go through the L1, like those of 4 bytes, so
// that other blocks find the data there.
#define CORNERTURN_COPY_ASYNC(how, bytes)                                                       \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async." how " [%0], [%1], " bytes \
                 "; }" ::"r"(to.address),                                                       \
                 "l"(from), "r"(static_cast<unsigned>(condition))                               \
                 : "memory")
#define CORNERTURN_COPY_ASYNC_OR_ZERO(how, bytes)                                            \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async." how " [%0], [%1], " bytes \
                 ", p; }" ::"r"(to.address),                                                 \
                 "l"(from), "r"(absent)                                                      \
                 : "memory")
template <int kFloats, bool kAround = false>
__device__ __forceinline__ void copy_async_if(bool condition, shared_address to, const float* from) {
    static_assert(kFloats == 1 || kFloats == 4);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if constexpr (kFloats == 4 && kAround)
        CORNERTURN_COPY_ASYNC("ca.shared.global.L2::256B", "16");
    else if constexpr (kFloats == 4)
        CORNERTURN_COPY_ASYNC("cg.shared.global", "16");
    else if constexpr (kAround)
        CORNERTURN_COPY_ASYNC("ca.shared.global.L2::256B", "4");
    else
        CORNERTURN_COPY_ASYNC("ca.shared.global", "4");
#else
    if (!condition) return;
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
template <int kFloats, bool kAround = false>
__device__ __forceinline__ void copy_async_or_zero(shared_address to, const float* from, bool there) {
    static_assert(kFloats == 1 || kFloats == 4);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const auto absent = static_cast<unsigned>(!there);
    if constexpr (kFloats == 4 && kAround)
        CORNERTURN_COPY_ASYNC_OR_ZERO("ca.shared.global.L2::256B", "16");
    else if constexpr (kFloats == 4)
        CORNERTURN_COPY_ASYNC_OR_ZERO("cg.shared.global", "16");
    else if constexpr (kAround)
        CORNERTURN_COPY_ASYNC_OR_ZERO("ca.shared.global.L2::256B", "4");
    else
        CORNERTURN_COPY_ASYNC_OR_ZERO("ca.shared.global", "4");
#else
    copy_async_if<kFloats>(there, to, from);
    if (!there) {
        CORNERTURN_UNROLL
        for (unsigned i = 0; i < kFloats; ++i)
            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address + 4 * i), "f"(0.0f) : "memory");
    }
#endif
}
#undef CORNERTURN_COPY_ASYNC
#undef CORNERTURN_COPY_ASYNC_OR_ZERO
// Copies 16 aligned bytes if the condition holds. whole_lines: the L2 fetches all 128 bytes of a line. There is no hint
// on what the L2 keeps: with one, ptxas of CUDA 13.0 sometimes makes an instruction that an H200 calls illegal,
// [R + UR0] with desc[UR1].
__device__ __forceinline__ void copy_vector_async_if(bool condition, void* to, const void* from, bool whole_lines) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const auto to_shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if (condition && whole_lines)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
    if (condition && !whole_lines)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to_shared), "l"(from) : "memory");
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

// Launches the kernel on device::current_stream() and returns at once. Throws cuda_error if CUDA refuses the launch.
template <class... Parameters, class... Arguments>
void launch(const launch_shape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
    const auto* const address = reinterpret_cast<const void*>(kernel);
    constexpr std::size_t kAlwaysAllowed = 48 << 10;  // of dynamic shared memory, without asking CUDA
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
    // Not with <<<>>>: that reports a launch's error only together with errors of earlier calls.
    const auto start = [&](Parameters... parameters) {
        void* all[] = {&parameters..., nullptr};
        cudaError_t status = cudaLaunchKernelExC(&config, address, all);
        if (large && status == cudaErrorInvalidValue) {
            // cudaDeviceReset() makes CUDA forget the limit that it was told.
            cudaGetLastError();
            device::allow_dynamic_shared(address, static_cast<int>(shape.dynamic_shared_bytes), on_device, true);
            status = cudaLaunchKernelExC(&config, address, all);
        }
        device::check_cuda(status, "cudaLaunchKernelExC", __FILE__, __LINE__);
    };
    start(arguments...);
}

}  // namespace CORNERTURN_KERNELS
