// What the dialect adds to CUDA's own words, as nvcc compiles it: hints to the L2, asynchronous copies, launches.
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
#define CORNERTURN_UNROLL_APART(times) CORNERTURN_UNROLL_BY(times)
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

// A word whose other bytes, of which the caller makes nothing, another thread may be writing.
__device__ __forceinline__ unsigned load_beside_writes(const unsigned* address, read_policy read) {
    return read.load(address);
}

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

// Stores a result, with the hint that the L2 keep it (keeps_result()) or without. The hint is for Hopper and its
// successors in data centers. nvcc splits no such store.
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
// has ended and all that it wrote can be seen (programmatic dependent launch, from Hopper on). What follows begins when
// this kernel has ended, or as let_work_behind_begin() says.
__device__ __forceinline__ void wait_for_work_ahead() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel in the stream be started as soon as all blocks have called this or have ended, if it is one that
// is launched early: it waits for this one in wait_for_work_ahead(), and for nothing else that is not done. So call
// this behind wait_for_work_ahead().
__device__ __forceinline__ void let_work_behind_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
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
// sm_80 they are done at once. The first copies if the condition holds, under a predicate; the second writes zeros
// where nothing is there, and reads nothing then. kAround: the L2 is to fetch all 256 bytes that they are among, since
// those are wanted soon, and copies of 16 bytes go by way of the L1, as those of 4 do, where other blocks find what
// they brought.
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
// 16 bytes, both sides aligned to that, if the condition holds. whole_lines: the L2 is to fetch all 128 bytes of a
// line. (With a hint on what the L2 keeps, ptxas of CUDA 13.0 makes an instruction, [R + UR0] with desc[UR1], that an
// H200 calls illegal: not always, but it cannot be relied on.)
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
        cudaError_t status = cudaLaunchKernelExC(&config, address, all);
        if (large && status == cudaErrorInvalidValue) {
            // cudaDeviceReset() makes CUDA forget what it has allowed.
            cudaGetLastError();
            device::allow_dynamic_shared(address, static_cast<int>(shape.dynamic_shared_bytes), on_device, true);
            status = cudaLaunchKernelExC(&config, address, all);
        }
        device::check_cuda(status, "cudaLaunchKernelExC", __FILE__, __LINE__);
    };
    start(arguments...);
}

}  // namespace CORNERTURN_KERNELS
