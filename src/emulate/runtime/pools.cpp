// Memory pools and stream-ordered allocation. A pool only counts its allocations. Memory comes from the system and
// returns to it at once, so a pool's reserved memory is its memory in use.
#include "emulate/runtime/pools.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "emulate/runtime/device.hpp"
#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/handles.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/streams.hpp"

struct CUmemPoolHandle_st {
    std::uint64_t release_threshold = 0;
    std::uint64_t used = 0, used_high = 0;
    int reuse_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
};

namespace cornerturn::emulator {
namespace {

struct pool_state {
    std::mutex mutex;  // guards the counts
    handles<CUmemPoolHandle_st> pools;
    std::unordered_map<void*, std::pair<cudaMemPool_t, std::size_t>> allocated;
    CUmemPoolHandle_st standard;
    cudaMemPool_t current = &standard;
};

pool_state& state() {
    static pool_state* const one = new pool_state;
    return *one;
}

bool exists(cudaMemPool_t pool) { return pool == &state().standard || state().pools.has(pool); }

// The address is known at once. The memory is allocated when the graph runs.
cudaError_t allocate_in_graph(void** result, std::size_t bytes, cudaStream_t stream) {
    if (!result || !bytes) return cudaErrorInvalidValue;
    allocation_work work{};
    work.memory = reserve(bytes);
    if (!work.memory) return cudaErrorMemoryAllocation;
    work.params.poolProps.allocType = cudaMemAllocationTypePinned;
    work.params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    work.params.bytesize = bytes;
    *result = work.params.dptr = work.memory->at;
    return submit(stream, std::move(work));
}

cudaError_t allocate_now(void** result, std::size_t bytes, cudaMemPool_t pool) {
    if (const cudaError_t error = allocate(result, bytes, allocation::device)) return error;
    if (!*result) return cudaSuccess;
    const std::lock_guard lock(state().mutex);
    state().allocated[*result] = {pool, bytes};
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
    return cudaSuccess;
}

cudaError_t allocate_from(void** result, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    if (!exists(pool)) return cudaErrorInvalidValue;
    return capture_or_do(
        stream, [&] { return allocate_in_graph(result, bytes, stream); },
        [&] { return allocate_now(result, bytes, pool); });
}

cudaError_t free_now(void* at) {
    const auto one = allocation_at(at);
    if (one && one->kind == allocation::managed) return cudaErrorNotSupported;
    return release(at, allocation::device);
}

int* reuse_flag(cudaMemPool_t pool, cudaMemPoolAttr which) {
    switch (which) {
        case cudaMemPoolReuseFollowEventDependencies: return &pool->reuse_event;
        case cudaMemPoolReuseAllowOpportunistic: return &pool->reuse_opportunistic;
        case cudaMemPoolReuseAllowInternalDependencies: return &pool->reuse_internal;
        default: return nullptr;
    }
}

}  // namespace

void pool_forgets(void* at) {
    const std::lock_guard lock(state().mutex);
    const auto found = state().allocated.find(at);
    if (found == state().allocated.end()) return;
    const auto [pool, bytes] = found->second;
    if (exists(pool)) pool->used -= bytes;
    state().allocated.erase(found);
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t stream) {
    return api_call([&] { return allocate_from(devPtr, size, state().current, stream); });
}

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    return api_call([&] { return allocate_from(ptr, size, memPool, stream); });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t stream) {
    return api_call([&] {
        if (!devPtr) return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
        return capture_or_do(
            stream, [&] { return submit(stream, free_work{devPtr}); }, [&] { return free_now(devPtr); });
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
    return api_call([&] {
        if (!memPool) return cudaErrorInvalidValue;
        if (device) return cudaErrorInvalidDevice;
        *memPool = &state().standard;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
    return api_call([&] {
        if (!memPool) return cudaErrorInvalidValue;
        if (device) return cudaErrorInvalidDevice;
        *memPool = state().current;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    return api_call([&] {
        if (device) return cudaErrorInvalidDevice;
        if (!exists(memPool)) return cudaErrorInvalidValue;
        state().current = memPool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const struct cudaMemPoolProps* poolProps) {
    return api_call([&] {
        if (!memPool || !poolProps || poolProps->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
        if (poolProps->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
        if (poolProps->location.id) return cudaErrorInvalidDevice;
        *memPool = state().pools.add({});
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
    return api_call([&] {
        if (!state().pools.has(memPool)) return cudaErrorInvalidValue;
        if (state().current == memPool) state().current = &state().standard;
        const std::lock_guard lock(state().mutex);
        std::erase_if(state().allocated, [&](const auto& one) { return one.second.first == memPool; });
        state().pools.remove(memPool);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t) {
    return api_call([&] { return exists(memPool) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void* value) {
    return api_call([&] {
        if (!exists(memPool) || !value) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        if (int* const flag = reuse_flag(memPool, attr)) {
            *flag = *static_cast<int*>(value);
            return cudaSuccess;
        }
        const std::uint64_t number = *static_cast<std::uint64_t*>(value);
        const bool resets = attr == cudaMemPoolAttrReservedMemHigh || attr == cudaMemPoolAttrUsedMemHigh;
        if (attr == cudaMemPoolAttrReleaseThreshold) {
            memPool->release_threshold = number;
        } else if (resets && number == 0) {
            memPool->used_high = memPool->used;
        } else {
            return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void* value) {
    return api_call([&] {
        if (!exists(memPool) || !value) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        if (const int* const flag = reuse_flag(memPool, attr)) {
            *static_cast<int*>(value) = *flag;
            return cudaSuccess;
        }
        auto& number = *static_cast<std::uint64_t*>(value);
        switch (attr) {
            case cudaMemPoolAttrReleaseThreshold: number = memPool->release_threshold; break;
            case cudaMemPoolAttrReservedMemCurrent:
            case cudaMemPoolAttrUsedMemCurrent: number = memPool->used; break;
            case cudaMemPoolAttrReservedMemHigh:
            case cudaMemPoolAttrUsedMemHigh: number = memPool->used_high; break;
            default: return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc* descList, size_t count) {
    return api_call([&] {
        if (!exists(memPool) || (count && !descList)) return cudaErrorInvalidValue;
        for (size_t i = 0; i < count; ++i) {
            if (descList[i].location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
            if (descList[i].location.id) return cudaErrorInvalidDevice;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation* location) {
    return api_call([&] {
        if (!exists(memPool) || !flags || !location) return cudaErrorInvalidValue;
        const bool here = location->type == cudaMemLocationTypeDevice && location->id == 0;
        *flags = here ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
        return cudaSuccess;
    });
}

}  // extern "C"
