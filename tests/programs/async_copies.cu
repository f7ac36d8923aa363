// Asynchronous copies to shared memory: the primitives, groups, barriers and pipelines.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "program.hpp"

// A barrier in shared memory has a constructor that shared memory does not run; init() takes its place.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kTile = 256;  // floats
constexpr int kTiles = 7;
constexpr int kElements = kTile * kTiles;

// Every kernel does the same: out[i] = 2 * in[i] + (the first element of its tile), by way of shared memory.
float expected_at(const std::vector<float>& in, int i) { return 2 * in[i] + in[i / kTile * kTile]; }

__device__ void use_tile(const float* tile, float* out) {
    for (int i = threadIdx.x; i < kTile; i += blockDim.x) out[i] = 2 * tile[i] + tile[0];
}

// Copies of 4, 8 and 16 bytes, each tile waited for at once.
template <class Chunk>
__global__ void with_primitives(const float* in, float* out) {
    __shared__ alignas(16) float tile[kTile];
    const int chunks = kTile * sizeof(float) / sizeof(Chunk);
    for (int t = 0; t < kTiles; ++t) {
        for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
            __pipeline_memcpy_async(reinterpret_cast<Chunk*>(tile) + i,
                                    reinterpret_cast<const Chunk*>(in + t * kTile) + i, sizeof(Chunk));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        use_tile(tile, out + t * kTile);
        __syncthreads();
    }
}

// Three stages: two tiles are on their way while the third is used.
__global__ void with_stages(const float* in, float* out) {
    constexpr int kStages = 3;
    __shared__ alignas(16) float stages[kStages][kTile];
    auto fetch = [&](int t) {
        if (t < kTiles) {
            for (int i = threadIdx.x * 4; i < kTile; i += blockDim.x * 4) {
                __pipeline_memcpy_async(&stages[t % kStages][i], &in[t * kTile + i], 16);
            }
        }
        __pipeline_commit();  // an empty batch at the end keeps the count right
    };
    fetch(0);
    fetch(1);
    for (int t = 0; t < kTiles; ++t) {
        fetch(t + 2);
        __pipeline_wait_prior(2);
        __syncthreads();
        use_tile(stages[t % kStages], out + t * kTile);
        __syncthreads();
    }
}

// The last bytes of a copy can be zeros instead of the source's.
__global__ void with_zeros(const int* in, int* out) {
    __shared__ alignas(16) int words[kThreads * 4];
    __pipeline_memcpy_async(&words[threadIdx.x * 4], &in[threadIdx.x * 4], 16, threadIdx.x % 5 * 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = threadIdx.x; i < kThreads * 4; i += blockDim.x) out[i] = words[i];
}

__global__ void with_group(const float* in, float* out) {
    __shared__ alignas(16) float tile[kTile];
    const cg::thread_block block = cg::this_thread_block();
    for (int t = 0; t < kTiles; ++t) {
        if (t % 3 == 0) {
            cg::memcpy_async(block, tile, in + t * kTile, sizeof(float) * kTile);
        } else if (t % 3 == 1) {
            cg::memcpy_async(block, tile, in + t * kTile, cuda::aligned_size_t<16>(sizeof(float) * kTile));
        } else {
            cg::memcpy_async(block, tile, size_t(kTile), in + t * kTile, size_t(kTile + 5));
        }
        cg::wait(block);
        use_tile(tile, out + t * kTile);
        block.sync();
    }
}

// Two tiles at once; the warps copy their own parts.
__global__ void with_tiles_of_group(const float* in, float* out) {
    __shared__ alignas(16) float tiles[2][kTile];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int part = kTile / static_cast<int>(warp.meta_group_size());
    const int from = part * static_cast<int>(warp.meta_group_rank());
    cg::memcpy_async(warp, &tiles[0][from], &in[from], sizeof(float) * part);
    for (int t = 0; t < kTiles; ++t) {
        if (t + 1 < kTiles) {
            cg::memcpy_async(warp, &tiles[(t + 1) % 2][from], &in[(t + 1) * kTile + from], sizeof(float) * part);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        use_tile(tiles[t % 2], out + t * kTile);
        block.sync();
    }
}

// Any number of bytes goes, also one that no wide access divides.
__global__ void with_any_bytes(const char* in, char* out, int bytes) {
    __shared__ alignas(16) char copy[kThreads * 4];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, copy + 8, in + 4, bytes);
    cg::wait(block);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = copy[8 + i];
}

__global__ void with_barrier(const float* in, float* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) float tile[kTile];
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int t = 0; t < kTiles; ++t) {
        if (t % 2 == 0) {
            cuda::memcpy_async(block, tile, in + t * kTile, sizeof(float) * kTile, barrier);
            barrier.arrive_and_wait();
        } else {
            // Each thread copies four floats.
            const int at = threadIdx.x * 4;
            cuda::memcpy_async(tile + at, in + t * kTile + at, cuda::aligned_size_t<16>(16), barrier);
            auto token = barrier.arrive();
            barrier.wait(std::move(token));
        }
        use_tile(tile, out + t * kTile);
        barrier.arrive_and_wait();
    }
}

// Two stages with a barrier each, exchanged by pointer.
__global__ void with_two_barriers(const float* in, float* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barriers[2];
    __shared__ alignas(16) float tiles[2][kTile];
    const cg::thread_block block = cg::this_thread_block();
    auto* front = &barriers[0];
    auto* back = &barriers[1];
    if (block.thread_rank() == 0) {
        init(front, block.size());
        init(back, block.size());
    }
    block.sync();
    cuda::memcpy_async(block, tiles[0], in, cuda::aligned_size_t<16>(sizeof(float) * kTile), *front);
    for (int t = 0; t < kTiles; ++t) {
        if (t + 1 < kTiles) {
            cuda::memcpy_async(block, tiles[(t + 1) % 2], in + (t + 1) * kTile,
                               cuda::aligned_size_t<16>(sizeof(float) * kTile), *back);
        }
        front->arrive_and_wait();
        use_tile(tiles[t % 2], out + t * kTile);
        block.sync();
        auto* const other = front;
        front = back;
        back = other;
    }
}

__global__ void with_thread_pipeline(const float* in, float* out) {
    constexpr int kStages = 3;
    __shared__ alignas(16) float stages[kStages][kTile];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const auto shape = cuda::aligned_size_t<alignof(float4)>(sizeof(float4));
    const int at = threadIdx.x * 4;
    int fetched = 0;
    for (int t = 0; t < kTiles; ++t) {
        for (; fetched < kTiles && fetched < t + kStages - 1; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stages[fetched % kStages][at], &in[fetched * kTile + at], shape, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        use_tile(stages[t % kStages], out + t * kTile);
        pipe.consumer_release();
        __syncthreads();
    }
}

__global__ void with_wait_prior(const float* in, float* out) {
    __shared__ float tile[kTile];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const auto shape = cuda::aligned_size_t<alignof(float)>(sizeof(float));
    for (int t = 0; t < kTiles; ++t) {
        pipe.producer_acquire();
        for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
            cuda::memcpy_async(&tile[i], &in[t * kTile + i], shape, pipe);
        }
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        use_tile(tile, out + t * kTile);
        __syncthreads();
    }
}

// All threads fill the stages and all use them.
__global__ void with_block_pipeline(const float* in, float* out) {
    constexpr int kStages = 2;
    __shared__ alignas(16) float stages[kStages][kTile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int fetched = 0;
    for (int t = 0; t < kTiles; ++t) {
        for (; fetched < kTiles && fetched < t + kStages; ++fetched) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stages[fetched % kStages], in + fetched * kTile,
                               cuda::aligned_size_t<16>(sizeof(float) * kTile), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        use_tile(stages[t % kStages], out + t * kTile);
        pipe.consumer_release();
    }
}

// One warp fills the stages and another one uses them.
__global__ void with_roles(const float* in, float* out) {
    constexpr int kStages = 2;
    __shared__ alignas(16) float stages[kStages][kTile];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    const cg::thread_block block = cg::this_thread_block();
    const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    for (int t = 0; t < kTiles; ++t) {
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            for (int i = threadIdx.x * 4; i < kTile; i += 32 * 4) {
                cuda::memcpy_async(&stages[t % kStages][i], &in[t * kTile + i], cuda::aligned_size_t<16>(16), pipe);
            }
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            const float* tile = stages[t % kStages];
            for (int i = threadIdx.x - 32; i < kTile; i += 32) out[t * kTile + i] = 2 * tile[i] + tile[0];
            pipe.consumer_release();
        }
    }
}

void check(const char* name, void (*kernel)(const float*, float*)) {
    std::vector<float> in(kElements);
    for (int i = 0; i < kElements; ++i) in[i] = static_cast<float>(i * 37 % 1021);
    device_array<float> in_device(in);
    device_array<float> out_device(kElements);
    kernel<<<1, kThreads>>>(in_device.data(), out_device.data());
    const std::vector<float> out = out_device.values();
    for (int i = 0; i < kElements; ++i) {
        EXPECT(out[i] == expected_at(in, i), "%s: element %d is %g, expected %g", name, i, out[i], expected_at(in, i));
    }
}

void check_zeros() {
    std::vector<int> in(kThreads * 4);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i) + 1;
    device_array<int> in_device(in);
    device_array<int> out_device(in.size());
    with_zeros<<<1, kThreads>>>(in_device.data(), out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < kThreads * 4; ++i) {
        const int kept = 4 - i / 4 % 5;
        EXPECT(out[i] == (i % 4 < kept ? in[i] : 0), "word %d: %d", i, out[i]);
    }
}

void check_any_bytes() {
    std::vector<char> in(kThreads * 4);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7);
    device_array<char> in_device(in);
    for (const int bytes : {1, 5, 16, 103, 240}) {
        device_array<char> out_device(bytes);
        with_any_bytes<<<1, kThreads>>>(in_device.data(), out_device.data(), bytes);
        const std::vector<char> out = out_device.values();
        for (int i = 0; i < bytes; ++i) EXPECT(out[i] == in[4 + i], "%d bytes: byte %d", bytes, i);
    }
}

int main() {
    check("copies of 4 bytes", with_primitives<float>);
    check("copies of 8 bytes", with_primitives<float2>);
    check("copies of 16 bytes", with_primitives<float4>);
    check("three stages", with_stages);
    check("the block's memcpy_async", with_group);
    check("the warps' memcpy_async", with_tiles_of_group);
    check("a barrier", with_barrier);
    check("two barriers", with_two_barriers);
    check("a thread's pipeline", with_thread_pipeline);
    check("pipeline_consumer_wait_prior", with_wait_prior);
    check("a block's pipeline", with_block_pipeline);
    check("producers and consumers", with_roles);
    check_zeros();
    check_any_bytes();
    return verdict();
}
