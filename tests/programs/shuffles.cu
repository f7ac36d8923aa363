// The four shuffles: every width, every distance, partial masks, and types of 1, 2, 4 and 8 bytes.
#include <cuda_fp16.h>

#include "program.hpp"

constexpr int kWarp = 32;
constexpr int kWidths[] = {1, 2, 4, 8, 16, 32};
constexpr int kShifts = 34;  // a source lane beyond the warp is taken modulo the width

// results[kind][shift][lane]
template <class T>
__global__ void shuffle_widths(const T* in, T* out, int width) {
    const int lane = threadIdx.x;
    const T value = in[lane];
    for (int shift = 0; shift < kShifts; ++shift) {
        out[(0 * kShifts + shift) * kWarp + lane] = __shfl_sync(0xffffffffu, value, shift, width);
        out[(1 * kShifts + shift) * kWarp + lane] = __shfl_up_sync(0xffffffffu, value, shift, width);
        out[(2 * kShifts + shift) * kWarp + lane] = __shfl_down_sync(0xffffffffu, value, shift, width);
        out[(3 * kShifts + shift) * kWarp + lane] = __shfl_xor_sync(0xffffffffu, value, shift, width);
    }
}

// The source lane as the programming guide defines it.
int source_lane(int kind, int lane, int shift, int width) {
    const int first = lane / width * width;
    const int last = first + width - 1;
    switch (kind) {
        case 0: return first + shift % width;
        case 1: {
            const int up = lane - shift;
            return up < first ? lane : up;
        }
        case 2: {
            const int down = lane + shift;
            return down > last ? lane : down;
        }
        default: {
            // A lane of a later segment is out of reach; one of an earlier segment is not.
            const int partner = lane ^ shift;
            return partner > last ? lane : partner;
        }
    }
}

template <class T>
void check_type(const char* name) {
    std::vector<T> in(kWarp);
    for (int lane = 0; lane < kWarp; ++lane) in[lane] = static_cast<T>(3 * lane + 1);
    if (sizeof(T) == 8) {
        // Both halves of an 8-byte value must arrive.
        for (int lane = 0; lane < kWarp; ++lane) in[lane] = static_cast<T>((1ll << 40) * (lane + 1) + lane);
    }
    device_array<T> in_device(in);
    device_array<T> out_device(4 * kShifts * kWarp);
    for (const int width : kWidths) {
        shuffle_widths<<<1, kWarp>>>(in_device.data(), out_device.data(), width);
        const std::vector<T> out = out_device.values();
        for (int kind = 0; kind < 4; ++kind) {
            for (int shift = 0; shift < kShifts; ++shift) {
                if (kind != 0 && shift >= kWarp) continue;  // not defined
                for (int lane = 0; lane < kWarp; ++lane) {
                    const int from = source_lane(kind, lane, shift, width);
                    EXPECT(out[(kind * kShifts + shift) * kWarp + lane] == in[from],
                           "%s: kind %d, width %d, shift %d, lane %d, source %d", name, kind, width, shift, lane, from);
                }
            }
        }
    }
}

// half is no arithmetic type of the host, so it is compared as bits.
__global__ void shuffle_halves(unsigned short* out) {
    const int lane = threadIdx.x;
    const __half value = __ushort_as_half(static_cast<unsigned short>(0x3c00 + lane));
    const __half2 pair = __halves2half2(value, __ushort_as_half(static_cast<unsigned short>(0x4000 + lane)));
    out[lane] = __half_as_ushort(__shfl_down_sync(0xffffffffu, value, 3));
    const __half2 other = __shfl_xor_sync(0xffffffffu, pair, 5);
    out[kWarp + lane] = __half_as_ushort(__low2half(other));
    out[2 * kWarp + lane] = __half_as_ushort(__high2half(other));
}

// Only the lanes of the mask call. Others are in the other branch, with the other mask.
__global__ void shuffle_masks(const int* in, int* out) {
    const int lane = threadIdx.x % kWarp;
    const int at = threadIdx.x;
    if (lane % 3 == 0) {
        const unsigned mask = 0x49249249u;  // lanes 0, 3, 6, ... 30
        out[at] = __shfl_sync(mask, in[at], 30 - lane) + __shfl_xor_sync(mask, in[at], 0);
    } else {
        const unsigned mask = ~0x49249249u;
        const int neighbour = lane % 3 == 1 ? lane + 1 : lane - 1;
        out[at] = __shfl_sync(mask, in[at], neighbour < kWarp ? neighbour : lane);
    }
}

// Half warps that do different things, with a loop of another length in each.
__global__ void shuffle_halves_of_warps(int* out) {
    const int lane = threadIdx.x % kWarp;
    const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    int value = threadIdx.x;
    const int rounds = lane < 16 ? 4 : 2;
    for (int i = 0; i < rounds; ++i) value += __shfl_xor_sync(mask, value, 1 << i, 16);
    out[threadIdx.x] = value;
}

// The usual sum of a warp, with warps of different blocks and a block of several dimensions.
__global__ void sum_of_warps(float* out) {
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    float value = static_cast<float>(blockIdx.x * 1000 + thread);
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
    if (thread % kWarp == 0) out[blockIdx.x * 4 + thread / kWarp] = value;
}

int main() {
    check_type<int>("int");
    check_type<unsigned>("unsigned");
    check_type<long>("long");
    check_type<unsigned long>("unsigned long");
    check_type<long long>("long long");
    check_type<unsigned long long>("unsigned long long");
    check_type<float>("float");
    check_type<double>("double");
    check_type<short>("short");
    check_type<unsigned char>("unsigned char");

    device_array<unsigned short> halves(3 * kWarp);
    shuffle_halves<<<1, kWarp>>>(halves.data());
    const std::vector<unsigned short> half_bits = halves.values();
    for (int lane = 0; lane < kWarp; ++lane) {
        const int down = lane + 3 < kWarp ? lane + 3 : lane;
        EXPECT(half_bits[lane] == 0x3c00 + down, "half, lane %d", lane);
        EXPECT(half_bits[kWarp + lane] == 0x3c00 + (lane ^ 5), "low of half2, lane %d", lane);
        EXPECT(half_bits[2 * kWarp + lane] == 0x4000 + (lane ^ 5), "high of half2, lane %d", lane);
    }

    std::vector<int> in(2 * kWarp);
    for (int i = 0; i < 2 * kWarp; ++i) in[i] = 100 + i;
    device_array<int> in_device(in);
    device_array<int> out_device(2 * kWarp);
    shuffle_masks<<<1, 2 * kWarp>>>(in_device.data(), out_device.data());
    std::vector<int> out = out_device.values();
    for (int i = 0; i < 2 * kWarp; ++i) {
        const int lane = i % kWarp;
        const int first = i / kWarp * kWarp;
        const int neighbour = lane % 3 == 1 ? lane + 1 : lane - 1;
        const int expected =
            lane % 3 == 0 ? in[first + 30 - lane] + in[i] : in[first + (neighbour < kWarp ? neighbour : lane)];
        EXPECT(out[i] == expected, "masks, thread %d: %d, expected %d", i, out[i], expected);
    }

    shuffle_halves_of_warps<<<1, 2 * kWarp>>>(out_device.data());
    out = out_device.values();
    for (int i = 0; i < 2 * kWarp; ++i) {
        const int group = i % kWarp < 16 ? 16 : 4;
        int expected = 0;
        for (int member = 0; member < group; ++member) expected += i / group * group + member;
        EXPECT(out[i] == expected, "half warps, thread %d: %d, expected %d", i, out[i], expected);
    }

    device_array<float> sums(3 * 4);
    sum_of_warps<<<3, dim3(8, 4, 4)>>>(sums.data());
    const std::vector<float> warp_sums = sums.values();
    for (int block = 0; block < 3; ++block) {
        for (int warp = 0; warp < 4; ++warp) {
            const float expected = 32.0f * (block * 1000 + warp * 32) + 31 * 32 / 2;
            EXPECT(warp_sums[block * 4 + warp] == expected, "block %d, warp %d", block, warp);
        }
    }
    return verdict();
}
