// Attributes and occupancy of kernels.
#include <cuda_runtime.h>

#include "expect.h"

__global__ void small(int* at) {
    if (at) *at = 1;
}
__global__ void shared_8k(int* at) {
    __shared__ int tile[2048];
    tile[threadIdx.x] = 1;
    __syncthreads();
    if (at && threadIdx.x == 0) *at = tile[0];
}
__global__ void dynamic(int* at) {
    extern __shared__ int words[];
    words[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (at && threadIdx.x == 0) *at = words[31];
}

struct four_bytes_a_thread {
    __host__ __device__ std::size_t operator()(int threads) const { return static_cast<std::size_t>(threads) * 4; }
};

int main() {
    cudaDeviceProp device;
    EXPECT_SUCCESS(cudaGetDeviceProperties(&device, 0));
    const int optin = static_cast<int>(device.sharedMemPerBlockOptin);

    cudaFuncAttributes attributes;
    EXPECT_SUCCESS(cudaFuncGetAttributes(&attributes, small));
    EXPECT(attributes.sharedSizeBytes == 0 && attributes.maxThreadsPerBlock == 1024);
    EXPECT(attributes.numRegs > 0 && attributes.maxDynamicSharedSizeBytes == 48 * 1024);
    EXPECT_SUCCESS(cudaFuncGetAttributes(&attributes, shared_8k));
    EXPECT(attributes.sharedSizeBytes == 8192 && attributes.maxDynamicSharedSizeBytes == 40 * 1024);

    // More dynamic shared memory than 48 KiB is to be asked for.
    EXPECT_STATUS(cudaErrorInvalidValue,
                  cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, optin + 1));
    EXPECT_STATUS(cudaErrorInvalidValue,
                  cudaFuncSetAttribute(shared_8k, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
    dynamic<<<1, 32, 60000>>>(nullptr);
    EXPECT(cudaGetLastError() != cudaSuccess);
    EXPECT_SUCCESS(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
    EXPECT_SUCCESS(cudaFuncGetAttributes(&attributes, dynamic));
    EXPECT(attributes.maxDynamicSharedSizeBytes == optin);
    int *result = nullptr, host = 0;
    EXPECT_SUCCESS(cudaMalloc(&result, sizeof(int)));
    dynamic<<<1, 32, 60000>>>(result);
    EXPECT_SUCCESS(cudaGetLastError());
    EXPECT_SUCCESS(cudaMemcpy(&host, result, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 31);

    int blocks = -1;
    EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 1024, 0));
    EXPECT(blocks == device.maxThreadsPerMultiProcessor / 1024);
    EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 256, 0));
    EXPECT(blocks == device.maxThreadsPerMultiProcessor / 256);
    EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 33, 0));
    EXPECT(blocks == device.maxBlocksPerMultiProcessor);
    EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 32, 100000));
    EXPECT(blocks == static_cast<int>(device.sharedMemPerMultiprocessor / (100096 + device.reservedSharedMemPerBlock)));
    EXPECT_SUCCESS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 1025, 0));
    EXPECT(blocks == 0);
    EXPECT_STATUS(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 0, 0));

    int grid = 0, block = 0;
    EXPECT_SUCCESS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, small, 0, 0));
    EXPECT(block == 1024 && grid == device.multiProcessorCount * device.maxThreadsPerMultiProcessor / 1024);
    EXPECT_SUCCESS(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, dynamic, four_bytes_a_thread{}));
    EXPECT(block == 1024 && grid > 0);
    EXPECT_SUCCESS(cudaFree(result));
    return finish();
}
