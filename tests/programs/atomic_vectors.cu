// atomicAdd on float2 and float4 in global memory (compute capability 9.0): each float is added separately.
#include <algorithm>
#include <vector>

#include "program.hpp"

constexpr int kThreads = 64, kBlocks = 4, kAll = kThreads * kBlocks;

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void add(float2* pair, float4* four) {
    const float by = static_cast<float>(thread_number());
    atomicAdd(pair, make_float2(1, by));
    atomicAdd_system(four, make_float4(by, 2, -1, 0.5f));
}

__global__ void add_and_keep(float2* pair, float4* four, float2* old_pairs, float4* old_fours) {
    old_pairs[thread_number()] = atomicAdd(pair, make_float2(1, 2));
    old_fours[thread_number()] = atomicAdd(four, make_float4(1, 0, -1, 4));
}

int main() {
    constexpr float kSum = kAll * (kAll - 1) / 2;
    device_array<float2> pair(std::vector<float2>{{0.5f, 1}, {7, 8}});
    device_array<float4> four(std::vector<float4>{{1, 2, 3, 4}, {5, 6, 7, 8}});
    add<<<kBlocks, kThreads>>>(pair.data(), four.data());
    const std::vector<float2> pairs = pair.values();
    EXPECT(pairs[0].x == kAll + 0.5f && pairs[0].y == kSum + 1, "float2: %g %g", pairs[0].x, pairs[0].y);
    EXPECT(pairs[1].x == 7 && pairs[1].y == 8, "the next float2: %g %g", pairs[1].x, pairs[1].y);
    const std::vector<float4> fours = four.values();
    EXPECT(fours[0].x == kSum + 1 && fours[0].y == 2 * kAll + 2 && fours[0].z == 3 - kAll && fours[0].w == kAll / 2 + 4,
           "float4: %g %g %g %g", fours[0].x, fours[0].y, fours[0].z, fours[0].w);
    EXPECT(fours[1].x == 5 && fours[1].w == 8, "the next float4");

    device_array<float2> next_pair(std::vector<float2>{{0, 0}}), old_pairs(std::vector<float2>(kAll, {0, 0}));
    device_array<float4> next_four(std::vector<float4>{{0, 9, 0, 0}}),
        old_fours(std::vector<float4>(kAll, {0, 0, 0, 0}));
    add_and_keep<<<kBlocks, kThreads>>>(next_pair.data(), next_four.data(), old_pairs.data(), old_fours.data());
    std::vector<float> firsts, lasts;
    for (const float2& old : old_pairs.values()) firsts.push_back(old.x);
    for (const float4& old : old_fours.values()) {
        lasts.push_back(old.w);
        EXPECT(old.y == 9, "what nobody changes: %g", old.y);
    }
    std::sort(firsts.begin(), firsts.end());
    std::sort(lasts.begin(), lasts.end());
    for (int i = 0; i < kAll; ++i) {
        EXPECT(firsts[i] == static_cast<float>(i), "each old value of float2 once: %g at %d", firsts[i], i);
        EXPECT(lasts[i] == static_cast<float>(4 * i), "each old value of float4 once: %g at %d", lasts[i], i);
    }
    return verdict();
}
