#include "device/device.hpp"
#include "kernels/warp_kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

__global__ void shuffles(const std::uint32_t* in, std::uint32_t* out) {
    const int lane = threadIdx.x;
    const std::uint32_t value = in[lane];
    out[0 * 32 + lane] = __shfl_sync(0xffffffffu, value, 5);
    out[1 * 32 + lane] = __shfl_up_sync(0xffffffffu, value, 3);
    out[2 * 32 + lane] = __shfl_down_sync(0xffffffffu, value, 3);
    out[3 * 32 + lane] = __shfl_xor_sync(0xffffffffu, value, blockDim.x == 32 ? 16 : 1);
    out[4 * 32 + lane] = __shfl_sync(0xffffffffu, value, 1, 8);
}

__global__ void partial_shuffles(const std::uint64_t* in, std::uint64_t* out) {
    const int lane = threadIdx.x;
    std::uint64_t value = in[lane];
    if (lane < 16) {
        value = __shfl_xor_sync(0x0000ffffu, value, 1);
        value = __shfl_xor_sync(0x0000ffffu, value, 2);
    }
    out[lane] = __shfl_xor_sync(0xffffffffu, value, 16);
}

__global__ void shuffle_from_absent_lane(std::uint32_t* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0x0000ffffu, threadIdx.x, 20);
}

__global__ void divergent_warp(std::uint32_t* out) {
    if (threadIdx.x < 31) {
        __syncwarp();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

__global__ void warp_exchange(std::uint32_t* out, bool with_barrier) {
    __shared__ std::uint32_t values[64];
    values[threadIdx.x] = threadIdx.x;
    if (with_barrier) __syncwarp();
    const std::uint32_t mirrored = values[threadIdx.x ^ 31];
    if (with_barrier) __syncwarp();
    values[threadIdx.x] = mirrored + 1;
    if (with_barrier) __syncwarp();
    out[threadIdx.x] = values[threadIdx.x ^ 31];
}

__global__ void dynamic_shared(const std::uint16_t* in, std::uint16_t* out, int n) {
    CORNERTURN_DYNAMIC_SHARED(std::uint16_t, held);
    held[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = held[n - 1 - static_cast<int>(threadIdx.x)];
}

__global__ void bytes_of_a_word(std::uint8_t* out, bool same_byte) {
    __shared__ std::uint8_t bytes[64];
    bytes[same_byte ? threadIdx.x & ~1u : threadIdx.x] = static_cast<std::uint8_t>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = bytes[same_byte ? threadIdx.x & ~1u : threadIdx.x];
}

struct three_words {
    std::uint32_t x, y, z;
};

__global__ void odd_copy(const three_words* in, three_words* out) { out[threadIdx.x] = in[threadIdx.x]; }

// noipa: a frame of its own for each call, however deep.
[[gnu::noipa]] __device__ void recurse(std::uint32_t* out, int depth) {
    volatile std::uint32_t local[200];
    local[depth % 200] = static_cast<std::uint32_t>(depth);
    out[threadIdx.x] = local[depth % 200];
    if (depth > 0) recurse(out, depth - 1);
    out[threadIdx.x] += local[depth % 200];
}

__global__ void deep_recursion(std::uint32_t* out) { recurse(out, 1000); }

// Only lane 1 writes what lane 1 then reads; lane 0 reads what all have written.
__global__ void late_first_lane(std::uint32_t* out) {
    __shared__ std::uint32_t held[32];
    if (threadIdx.x == 0) held[0] = 4;
    if (threadIdx.x == 1) held[1] = 5;
    if (threadIdx.x < 2) out[threadIdx.x] = held[threadIdx.x];
}

__global__ void indices(std::uint32_t* out) {
    const unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[linear] = linear;
}

__global__ void loop_bound(const std::uint32_t* in, std::uint32_t* out) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < in[blockIdx.x]; ++i) sum += in[i];
    out[threadIdx.x] = sum;
}

template <class T>
__device__ void copy_as(const void* in, void* out) {
    static_cast<T*>(out)[threadIdx.x] = static_cast<const T*>(in)[threadIdx.x];
}

__global__ void vector_copies(const void* in, void* out) {
    copy_as<uchar2>(in, out);
    copy_as<uchar4>(in, out);
    copy_as<ushort2>(in, out);
    copy_as<ushort4>(in, out);
    copy_as<int2>(in, out);
    copy_as<int4>(in, out);
    copy_as<uint2>(in, out);
    copy_as<uint4>(in, out);
    copy_as<float2>(in, out);
    copy_as<float4>(in, out);
    copy_as<double2>(in, out);
}

template <class T>
__global__ void shared_pattern(const std::uint32_t* offsets, std::uint32_t active, T* out) {
    __shared__ uint4 bytes[1024];
    for (int i = 0; i < 1024; i += 32) bytes[i + threadIdx.x] = make_uint4(i, i, i, i);
    __syncthreads();
    if ((active >> threadIdx.x & 1) != 0) {
        out[threadIdx.x] = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(bytes) + offsets[threadIdx.x]);
    }
}

__global__ void opposite_order(std::uint32_t* out) {
    __shared__ std::uint32_t a[32], b[32];
    const unsigned t = threadIdx.x;
    std::uint32_t sum = 0;
    for (int step = 0; step < 2; ++step) {
        if ((step == 0) == (t % 2 == 0)) {
            a[t] = t;
            sum += a[t];
        } else {
            b[t] = t;
            sum += b[t];
        }
    }
    out[t] = sum;
}

__global__ void both_shared(std::uint32_t* out) {
    __shared__ std::uint32_t fixed[32];
    CORNERTURN_DYNAMIC_SHARED(std::uint32_t, dynamic);
    fixed[threadIdx.x] = threadIdx.x;
    dynamic[threadIdx.x] = 100 + threadIdx.x;
    const std::uint32_t* const from = threadIdx.x % 2 != 0 ? fixed : dynamic;
    out[threadIdx.x] = from[threadIdx.x];
}

__global__ void either_space(const std::uint32_t* in, std::uint32_t* out) {
    __shared__ std::uint32_t held[64];
    held[threadIdx.x] = threadIdx.x;
    const std::uint32_t* const from = threadIdx.x < 32 ? held : in;
    out[threadIdx.x] = from[threadIdx.x];
}

__global__ void shuffle_meets_barrier(std::uint32_t* out) {
    std::uint32_t value = threadIdx.x;
    if (threadIdx.x < 16) {
        value = __shfl_sync(0xffffffffu, value, 20);
    } else {
        __syncwarp();
    }
    out[threadIdx.x] = value;
}

__global__ void many_warp_barriers(std::uint32_t* out, int rounds) {
    __shared__ std::uint32_t held[32];
    held[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < rounds; ++i) __syncwarp();
    out[threadIdx.x] = held[threadIdx.x ^ 1];
}

__global__ void too_much_shared(std::uint32_t* out) {
    __shared__ std::uint32_t held[16 << 10];
    held[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x];
}

__global__ void nothing() {}

}  // namespace
}  // namespace CORNERTURN_KERNELS

namespace cornerturn::tests {

using namespace cornerturn::dialect;

void run_shuffles(const std::uint32_t* in, std::uint32_t* out, int lanes) {
    launch({1, static_cast<unsigned>(lanes)}, shuffles, in, out);
}
void run_partial_shuffles(const std::uint64_t* in, std::uint64_t* out) { launch({1, 32}, partial_shuffles, in, out); }
void run_shuffle_from_absent_lane(std::uint32_t* out) { launch({1, 32}, shuffle_from_absent_lane, out); }
void run_divergent_warp(std::uint32_t* out) { launch({1, 32}, divergent_warp, out); }
void run_warp_exchange(std::uint32_t* out, bool with_barrier) { launch({1, 32}, warp_exchange, out, with_barrier); }
void run_dynamic_shared(const std::uint16_t* in, std::uint16_t* out, int n) {
    launch({1, static_cast<unsigned>(n), n * sizeof(std::uint16_t)}, dynamic_shared, in, out, n);
}
void run_bytes_of_a_word(std::uint8_t* out, bool same_byte) { launch({1, 64}, bytes_of_a_word, out, same_byte); }
void run_odd_copy(const void* in, void* out) {
    launch({1, 4}, odd_copy, static_cast<const three_words*>(in), static_cast<three_words*>(out));
}
void run_deep_recursion(std::uint32_t* out) { launch({1, 32}, deep_recursion, out); }
void run_late_first_lane(std::uint32_t* out) { launch({1, 32}, late_first_lane, out); }
void run_indices(std::uint32_t* out, unsigned x, unsigned y, unsigned z) { launch({1, dim3(x, y, z)}, indices, out); }
void run_loop_bound(const std::uint32_t* in, std::uint32_t* out) { launch({1, 32}, loop_bound, in, out); }
void run_opposite_order(std::uint32_t* out) { launch({1, 32}, opposite_order, out); }
void run_both_shared(std::uint32_t* out) { launch({1, 32, 128}, both_shared, out); }
void run_either_space(const std::uint32_t* in, std::uint32_t* out) { launch({1, 64}, either_space, in, out); }
void run_shuffle_meets_barrier(std::uint32_t* out) { launch({1, 32}, shuffle_meets_barrier, out); }
void run_many_warp_barriers(std::uint32_t* out, int rounds) { launch({1, 32}, many_warp_barriers, out, rounds); }
void run_too_much_shared(std::uint32_t* out) { launch({1, 32}, too_much_shared, out); }
void run_vector_copies(const void* in, void* out) { launch({1, 32}, vector_copies, in, out); }
void run_shared_pattern(const std::uint32_t* offsets, std::uint32_t active, int width, void* out) {
    switch (width) {
        case 1: return launch({1, 32}, shared_pattern<std::uint8_t>, offsets, active, static_cast<std::uint8_t*>(out));
        case 2:
            return launch({1, 32}, shared_pattern<std::uint16_t>, offsets, active, static_cast<std::uint16_t*>(out));
        case 4:
            return launch({1, 32}, shared_pattern<std::uint32_t>, offsets, active, static_cast<std::uint32_t*>(out));
        case 8:
            return launch({1, 32}, shared_pattern<std::uint64_t>, offsets, active, static_cast<std::uint64_t*>(out));
        default: return launch({1, 32}, shared_pattern<uint4>, offsets, active, static_cast<uint4*>(out));
    }
}
void run_bad_launch(unsigned block_x, unsigned grid_y, std::size_t dynamic_shared_bytes) {
    launch({dim3(1, grid_y), dim3(block_x), dynamic_shared_bytes}, nothing);
}

}  // namespace cornerturn::tests
