// The runtime API: kernels' attributes, occupancy, and launches by function.
#pragma once

#include "../driver_types.h"

extern "C" {
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, const void* func);
cudaError_t cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value);
cudaError_t cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache cacheConfig);
cudaError_t cudaFuncSetSharedMemConfig(const void* func, enum cudaSharedMemConfig config);
cudaError_t cudaFuncGetName(const char** name, const void* func);

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                          size_t dynamicSMemSize);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func, int numBlocks,
                                                      int blockSize);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func, const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, const void* func, const cudaLaunchConfig_t* config);

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args);
cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                        cudaStream_t stream);
}

// CUDA's C++ overloads, which take the kernel itself.
template <class T>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, T* entry) {
    return cudaFuncGetAttributes(attr, (const void*)entry);
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* func, enum cudaFuncAttribute attr, int value) {
    return cudaFuncSetAttribute((const void*)func, attr, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* func, enum cudaFuncCache cacheConfig) {
    return cudaFuncSetCacheConfig((const void*)func, cacheConfig);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* func, enum cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig((const void*)func, config);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* func) {
    return cudaFuncGetName(name, (const void*)func);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                                 size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void*)func, blockSize, dynamicSMemSize);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func, int blockSize,
                                                                          size_t dynamicSMemSize, unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                  dynamicSMemSize, flags);
}
template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, T* func, int numBlocks,
                                                             int blockSize) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void*)func, numBlocks, blockSize);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, T* func, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void*)func, config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, T* func, const cudaLaunchConfig_t* config) {
    return cudaOccupancyMaxActiveClusters(numClusters, (const void*)func, config);
}

// The block size with the most resident threads. It tries whole warps from the largest size down. If two sizes are
// equally good, it keeps the larger one.
template <class UnaryFunction, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* minGridSize, int* blockSize, T func,
                                                                           UnaryFunction blockSizeToDynamicSMemSize,
                                                                           int blockSizeLimit = 0,
                                                                           unsigned int flags = 0) {
    if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
    struct cudaFuncAttributes attributes;
    int multiprocessors = 0;
    cudaError_t status = cudaFuncGetAttributes(&attributes, (const void*)func);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    if (status != cudaSuccess) return status;
    int largest = attributes.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < largest) largest = blockSizeLimit;
    int most_threads = 0;
    for (int warps = (largest + 31) / 32; warps > 0; --warps) {
        const int threads = warps * 32 < largest ? warps * 32 : largest;
        int blocks = 0;
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, (const void*)func, threads, static_cast<size_t>(blockSizeToDynamicSMemSize(threads)), flags);
        if (status != cudaSuccess) return status;
        if (blocks * threads > most_threads) {
            most_threads = blocks * threads;
            *blockSize = threads;
            *minGridSize = blocks * multiprocessors;
        }
    }
    return cudaSuccess;
}
template <class UnaryFunction, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                  UnaryFunction blockSizeToDynamicSMemSize,
                                                                  int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                   blockSizeToDynamicSMemSize, blockSizeLimit);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                               size_t dynamicSMemSize = 0, int blockSizeLimit = 0,
                                                               unsigned int flags = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        minGridSize, blockSize, func, [dynamicSMemSize](int) { return dynamicSMemSize; }, blockSizeLimit, flags);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                                      size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit);
}

template <class T>
inline cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                               cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

// `values` are the arguments, converted to the kernel's parameter types. They are passed by value, so that they have
// addresses.
template <class... ExpTypes>
inline cudaError_t ct_launch_converted(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...),
                                       ExpTypes... values) {
    void* addresses[sizeof...(ExpTypes) + 1] = {(void*)&values..., nullptr};
    return cudaLaunchKernelExC(config, (const void*)kernel, addresses);
}
template <class... ExpTypes, class... ActTypes>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...),
                                      ActTypes&&... args) {
    return ct_launch_converted<ExpTypes...>(config, kernel, static_cast<ActTypes&&>(args)...);
}
