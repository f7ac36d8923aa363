#include "after_transpose_kernels.hpp"
#include "device/cuda_check.hpp"

namespace cornerturn::after {
namespace {

constexpr int kThreads = 256, kManyBlocks = 1024;

__device__ unsigned mix(std::uint64_t i) {
    i *= 0x9E3779B97F4A7C15u;
    i = (i ^ i >> 29) * 0xBF58476D1CE4E5B9u;
    return static_cast<unsigned>(i >> 32);
}
// Floats, or pairs of halves, from 1 to 2.
__global__ void fill_words(unsigned* words, std::int64_t count, bool halves, unsigned seed) {
    for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
        const unsigned bits = mix(static_cast<std::uint64_t>(i) + seed);
        words[i] = halves ? 0x3c003c00u | (bits & 0x00f000f0u) : 0x3f800000u | (bits & 0x7fff00u);
    }
}
__global__ void hash_words(const unsigned* words, std::int64_t count, unsigned long long* sum) {
    unsigned long long mine = 0;
    for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads)
        mine += mix(static_cast<std::uint64_t>(i) << 32 | words[i]);
    atomicAdd(sum, mine);
}
template <class T>
__global__ void transpose_elements(const T* source, T* destination, std::int64_t rows, std::int64_t cols) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i < rows * cols) destination[i] = source[i % rows * cols + i / rows];
}
__global__ void reduce_vectors(const uint4* vectors, std::int64_t count, unsigned long long* sum) {
    unsigned long long mine = 0;
    for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
        const uint4 v = vectors[i];
        mine += static_cast<unsigned long long>(v.x) + v.y + v.z + v.w;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
__global__ void copy_vectors(const uint4* source, uint4* destination, std::int64_t count, unsigned change) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= count) return;
    const uint4 v = source[i];
    destination[i] = make_uint4(v.x ^ change, v.y ^ change, v.z ^ change, v.w ^ change);
}
unsigned blocks_for(std::int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

}  // namespace

void fill(void* data, std::int64_t bytes, bool halves, unsigned seed, cudaStream_t stream) {
    fill_words<<<kManyBlocks, kThreads, 0, stream>>>(static_cast<unsigned*>(data), bytes / 4, halves, seed);
    CORNERTURN_CUDA(cudaGetLastError());
}

void add_hash(const void* data, std::int64_t bytes, unsigned long long* sum, cudaStream_t stream) {
    hash_words<<<kManyBlocks, kThreads, 0, stream>>>(static_cast<const unsigned*>(data), bytes / 4, sum);
    CORNERTURN_CUDA(cudaGetLastError());
}

void transpose_slowly(const void* source, void* destination, std::int64_t rows, std::int64_t cols, int size,
                      cudaStream_t stream) {
    const unsigned blocks = blocks_for(rows * cols);
    if (size == 4) {
        transpose_elements<<<blocks, kThreads, 0, stream>>>(static_cast<const unsigned*>(source),
                                                            static_cast<unsigned*>(destination), rows, cols);
    } else {
        transpose_elements<<<blocks, kThreads, 0, stream>>>(static_cast<const std::uint16_t*>(source),
                                                            static_cast<std::uint16_t*>(destination), rows, cols);
    }
    CORNERTURN_CUDA(cudaGetLastError());
}

void reduce(const void* data, std::int64_t bytes, unsigned long long* sum, cudaStream_t stream) {
    reduce_vectors<<<kManyBlocks, kThreads, 0, stream>>>(static_cast<const uint4*>(data), bytes / 16, sum);
    CORNERTURN_CUDA(cudaGetLastError());
}

void copy_changed(const void* source, void* destination, std::int64_t bytes, unsigned change, cudaStream_t stream) {
    copy_vectors<<<blocks_for(bytes / 16), kThreads, 0, stream>>>(static_cast<const uint4*>(source),
                                                                  static_cast<uint4*>(destination), bytes / 16, change);
    CORNERTURN_CUDA(cudaGetLastError());
}

}  // namespace cornerturn::after
