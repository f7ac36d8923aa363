// The last error: calls that set it, calls that clear it, and an error of a kernel that stays.
#include <cuda_runtime.h>

#include <cstring>

#include "expect.h"

__global__ void nothing() {}
__global__ void write(int* at) { *at = 1; }

int main() {
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(123456)), "unrecognized error code") == 0);

    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);           // a good call
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);  // leaves the last error
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);     // and this clears it
    EXPECT(cudaGetLastError() == cudaSuccess);

    EXPECT_STATUS(cudaErrorInvalidValue, cudaGetDeviceProperties(nullptr, 0));
    EXPECT_STATUS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    char from[128] = {}, *to = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&to, sizeof from));
    EXPECT_STATUS(cudaErrorInvalidPitchValue, cudaMemcpy2D(to, 64, from, 64, 65, 2, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaFree(to));
    nothing<<<1, 2000>>>();  // more threads than a block can have
    EXPECT(cudaGetLastError() != cudaSuccess);
    nothing<<<0, 1>>>();
    EXPECT(cudaGetLastError() != cudaSuccess);
    nothing<<<1, 1>>>();
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);

    // An illegal address stays: every later call of the device returns it.
    void* memory = nullptr;
    write<<<1, 1>>>(reinterpret_cast<int*>(0x10));
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&memory, 16) == cudaErrorIllegalAddress);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return finish();
}
