// The only device: its properties, limits and flags.
#include "emulate/runtime/device.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/streams.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

constexpr char kBusId[] = "0000:00:00.0";

constexpr std::size_t kMaxStack = 512 << 10;  // the most local memory of a thread
constexpr std::array<std::size_t, 7> kLimits = {1024, 8650752, 8388608, 0, 2048, 64, 11796480};  // indexed by cudaLimit

std::array<std::atomic<std::size_t>, kLimits.size()> limits = {
    kLimits[0], kLimits[1], kLimits[2], kLimits[3], kLimits[4], kLimits[5], kLimits[6],
};
std::atomic<unsigned> device_flags{cudaDeviceMapHost};
std::atomic<cudaFuncCache> cache_preference{cudaFuncCachePreferNone};

cudaDeviceProp properties() {
    cudaDeviceProp made;
    std::memset(&made, 0, sizeof made);
    std::snprintf(made.name, sizeof made.name, "NVIDIA H200 (emulated by cornerturn)");
    std::memcpy(made.uuid.bytes, "cornerturn-emula", sizeof made.uuid.bytes);
    made.totalGlobalMem = kDeviceBytes;
    made.unifiedFunctionPointers = 1;
#define CT_FACT(attribute, value, member) made.member = value;
#define CT_ATTRIBUTE(attribute, value)
#include "emulate/runtime/device_facts.hpp"
#undef CT_FACT
#undef CT_ATTRIBUTE
    return made;
}

bool attribute_of(cudaDeviceAttr which, int* result) {
    switch (which) {
#define CT_FACT(attribute, value, member) CT_ATTRIBUTE(attribute, value)
#define CT_ATTRIBUTE(attribute, value) \
    case attribute:                    \
        *result = value;               \
        return true;
#include "emulate/runtime/device_facts.hpp"
#undef CT_FACT
#undef CT_ATTRIBUTE
    }
    return false;
}

bool is_limit(cudaLimit limit) {
    return static_cast<std::size_t>(limit) < kLimits.size() && limit != cudaLimitDevRuntimeSyncDepth;
}

}  // namespace

std::size_t stack_limit() { return limits[cudaLimitStackSize]; }

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaDeviceSynchronize(void) {
    if (current_worker != nullptr)
        current_worker->refuse("cudaDeviceSynchronize() in a kernel (removed in CUDA 12)",
                               reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
    return api_call([] { return refuse_in_any_capture(); });
}
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }

// Releases everything that belongs to the device, and clears the sticky error.
cudaError_t cudaDeviceReset(void) {
    clear_sticky_error();
    return api_call([] {
        release_all();
        forget_captures();  // before their streams are destroyed
        forget_streams();
        forget_graphs();
        for (std::size_t i = 0; i < limits.size(); ++i) limits[i] = kLimits[i];
        return cudaSuccess;
    });
}
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }

// These two do not access the device, so a sticky error does not make them fail.
cudaError_t cudaGetDeviceCount(int* count) {
    if (!count) return fail(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    if (!device) return fail(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return api_call([&] { return device ? cudaErrorInvalidDevice : cudaSuccess; });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }

cudaError_t cudaSetValidDevices(int* device_arr, int len) {
    return api_call([&] {
        if (len < 0 || (len && !device_arr)) return cudaErrorInvalidValue;
        for (int i = 0; i < len; ++i) {
            if (device_arr[i]) return cudaErrorInvalidDevice;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* prop) {
    return api_call([&] {
        if (!device || !prop) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return api_call([&] {
        if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return cudaErrorInvalidValue;
        device_flags = flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    return api_call([&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = device_flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
    return api_call([&] {
        if (!prop) return cudaErrorInvalidValue;
        if (device) return cudaErrorInvalidDevice;
        *prop = properties();
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device) {
    return api_call([&] {
        if (!value) return cudaErrorInvalidValue;
        if (device) return cudaErrorInvalidDevice;
        return attribute_of(attr, value) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    return api_call([&] {
        if (static_cast<std::size_t>(limit) >= limits.size()) return cudaErrorInvalidValue;
        if (!is_limit(limit)) return cudaErrorUnsupportedLimit;
        if (limit == cudaLimitStackSize && value > kMaxStack) return cudaErrorInvalidValue;
        limits[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetLimit(size_t* pValue, enum cudaLimit limit) {
    return api_call([&] {
        if (!pValue || static_cast<std::size_t>(limit) >= limits.size()) return cudaErrorInvalidValue;
        if (!is_limit(limit)) return cudaErrorUnsupportedLimit;
        *pValue = limits[limit];
        return cudaSuccess;
    });
}

// Preferences between L1 and shared memory have no effect. The program can read back the device's preference.
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* pCacheConfig) {
    return api_call([&] {
        if (!pCacheConfig) return cudaErrorInvalidValue;
        *pCacheConfig = cache_preference;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig) {
    return api_call([&] {
        cache_preference = cacheConfig;
        return cudaSuccess;
    });
}

// Banks are 4 bytes wide on every GPU since Maxwell.
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* pConfig) {
    return api_call([&] {
        if (!pConfig) return cudaErrorInvalidValue;
        *pConfig = cudaSharedMemBankSizeFourByte;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig) { return cudaDeviceSynchronize(); }
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int, int) { return ct_not_supported(); }

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
    return api_call([&] {
        if (!pciBusId || len < static_cast<int>(sizeof kBusId)) return cudaErrorInvalidValue;
        if (device) return cudaErrorInvalidDevice;
        std::memcpy(pciBusId, kBusId, sizeof kBusId);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId) {
    return api_call([&] {
        if (!device || !pciBusId || std::strcmp(pciBusId, kBusId) != 0) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDriverGetVersion(int* driverVersion) { return cudaRuntimeGetVersion(driverVersion); }

cudaError_t cudaRuntimeGetVersion(int* runtimeVersion) {
    if (!runtimeVersion) return fail(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
    return api_call([&] {
        if (!canAccessPeer) return cudaErrorInvalidValue;
        if (device || peerDevice) return cudaErrorInvalidDevice;
        *canAccessPeer = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    return api_call([&] {
        if (flags) return cudaErrorInvalidValue;
        return peerDevice ? cudaErrorInvalidDevice : cudaErrorPeerAccessUnsupported;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
    return api_call([&] { return peerDevice ? cudaErrorInvalidDevice : cudaErrorPeerAccessNotEnabled; });
}

cudaError_t cudaDeviceGetP2PAttribute(int*, enum cudaDeviceP2PAttr, int, int) {
    return api_call([] { return cudaErrorInvalidDevice; });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return ct_not_supported(); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return ct_not_supported(); }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return ct_not_supported(); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) { return ct_not_supported(); }
cudaError_t cudaIpcCloseMemHandle(void*) { return ct_not_supported(); }

}  // extern "C"
