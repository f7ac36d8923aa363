// Device, pinned, managed and registered memory, and which of them copies and cudaFree accept.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "expect.h"

__global__ void increment(int* value) { *value += 1; }

static cudaMemoryType type_of(const void* at) {
    cudaPointerAttributes attributes;
    EXPECT_SUCCESS(cudaPointerGetAttributes(&attributes, at));
    return attributes.type;
}

static void kinds() {
    int *device = nullptr, *pinned = nullptr, *managed = nullptr, *mapped = nullptr;
    int* const host = static_cast<int*>(std::malloc(4096));
    EXPECT_SUCCESS(cudaMalloc(&device, 4096));
    EXPECT_SUCCESS(cudaMallocHost(&pinned, 4096));
    EXPECT_SUCCESS(cudaMallocManaged(&managed, 4096));
    EXPECT(reinterpret_cast<std::uintptr_t>(device) % 256 == 0);
    EXPECT(type_of(device) == cudaMemoryTypeDevice);
    EXPECT(type_of(device + 10) == cudaMemoryTypeDevice);
    EXPECT(type_of(pinned) == cudaMemoryTypeHost);
    EXPECT(type_of(managed) == cudaMemoryTypeManaged);
    EXPECT(type_of(host) == cudaMemoryTypeUnregistered);

    *managed = 41;
    increment<<<1, 1>>>(managed);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(*managed == 42);

    *pinned = 1;
    EXPECT_SUCCESS(cudaHostGetDevicePointer(&mapped, pinned, 0));
    increment<<<1, 1>>>(mapped);
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(*pinned == 2);

    EXPECT_SUCCESS(cudaHostRegister(host, 4096, cudaHostRegisterDefault));
    EXPECT_STATUS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 4096, cudaHostRegisterDefault));
    EXPECT(type_of(host) == cudaMemoryTypeHost);
    EXPECT_SUCCESS(cudaHostUnregister(host));
    EXPECT_STATUS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    EXPECT(type_of(host) == cudaMemoryTypeUnregistered);

    // Host memory is no device memory, and the other way round.
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(host, host + 100, 64, cudaMemcpyHostToDevice));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(host, host + 100, 64, cudaMemcpyDeviceToHost));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(device, host, 64, cudaMemcpyDeviceToDevice));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemset(host, 0, 64));
    EXPECT_STATUS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 64, static_cast<cudaMemcpyKind>(7)));
    EXPECT_SUCCESS(cudaMemcpy(pinned, host, 64, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaMemcpy(managed, device, 64, cudaMemcpyDeviceToDevice));
    EXPECT_SUCCESS(cudaMemcpy(host, device, 64, cudaMemcpyDefault));
    EXPECT_SUCCESS(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));

    EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(host));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(device + 4));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(pinned));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaFreeHost(device));
    EXPECT_SUCCESS(cudaFree(nullptr));
    EXPECT_SUCCESS(cudaFreeHost(nullptr));
    EXPECT_SUCCESS(cudaFree(device));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaFree(device));
    EXPECT_SUCCESS(cudaFree(managed));
    EXPECT_SUCCESS(cudaFreeHost(pinned));
    std::free(host);
}

static void edges() {
    char* device = nullptr;
    static char host[1 << 20];
    EXPECT_SUCCESS(cudaMalloc(&device, 4096));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpy(device + 4000, host, 4096, cudaMemcpyHostToDevice));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemset(device, 0, sizeof host));
    EXPECT_SUCCESS(cudaMemcpy(device + 4000, host, 96, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaFree(device));

    void* none = host;
    EXPECT_SUCCESS(cudaMalloc(&none, 0));
    EXPECT(none == nullptr);
    EXPECT_STATUS(cudaErrorMemoryAllocation, cudaMalloc(&none, std::size_t{1} << 45));

    std::size_t free_before = 0, free_after = 0, total = 0;
    EXPECT_SUCCESS(cudaMemGetInfo(&free_before, &total));
    EXPECT(free_before <= total && total > 0);
    void* large = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&large, std::size_t{256} << 20));
    EXPECT_SUCCESS(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_after + (std::size_t{256} << 20) <= free_before);
    EXPECT_SUCCESS(cudaFree(large));
}

static void pools() {
    cudaMemPool_t pool;
    EXPECT_SUCCESS(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = ~0ull, read = 0, used = 0;
    EXPECT_SUCCESS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_SUCCESS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    EXPECT(read == threshold);
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    int *value = nullptr, host = 5;
    EXPECT_SUCCESS(cudaMallocAsync(&value, 1000, stream));
    EXPECT_SUCCESS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used >= 1000);
    EXPECT_SUCCESS(cudaMemcpyAsync(value, &host, sizeof host, cudaMemcpyHostToDevice, stream));
    increment<<<1, 1, 0, stream>>>(value);
    EXPECT_SUCCESS(cudaMemcpyAsync(&host, value, sizeof host, cudaMemcpyDeviceToHost, stream));
    EXPECT_SUCCESS(cudaFreeAsync(value, stream));
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT(host == 6);
    EXPECT_SUCCESS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
    EXPECT_SUCCESS(cudaMemPoolTrimTo(pool, 0));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
}

int main() {
    kinds();
    edges();
    pools();
    return finish();
}
