// Cooperative launches: grids whose blocks wait for one another.
#include <cooperative_groups.h>

#include "program.hpp"

namespace cg = cooperative_groups;

namespace {

constexpr unsigned kThreads = 96, kBlocks = 400, kRounds = 5;

// In each round a block reads what the next block wrote in the round before, and keeps its sum in shared memory.
__global__ void pass_on(int* values, int* sums) {
    cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    extern __shared__ int last[];
    if (threadIdx.x == 0) sum = 0;
    last[threadIdx.x] = static_cast<int>(grid.thread_rank());
    values[grid.thread_rank()] = last[threadIdx.x];
    for (unsigned round = 0; round < kRounds; ++round) {
        grid.sync();
        const unsigned next = (blockIdx.x + 1) % gridDim.x;
        const int value = values[next * kThreads + threadIdx.x];
        atomicAdd(&sum, value - last[threadIdx.x]);
        last[threadIdx.x] = value;
        grid.sync();
        values[grid.thread_rank()] = value;
    }
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    if (!grid.is_valid()) sums[blockIdx.x] = -1;
}

void check_rounds() {
    device_array<int> values(kThreads * kBlocks), sums(kBlocks);
    int *values_data = values.data(), *sums_data = sums.data();
    void* arguments[] = {&values_data, &sums_data};
    CUDA_OK(cudaLaunchCooperativeKernel(pass_on, dim3(kBlocks), dim3(kThreads), arguments, kThreads * sizeof(int)));
    const std::vector<int> at_end = values.values(), found = sums.values();
    for (unsigned block = 0; block < kBlocks; ++block) {
        // After five rounds a block holds what the fifth block behind it began with.
        const int origin = static_cast<int>((block + kRounds) % kBlocks);
        const int moved = (origin - static_cast<int>(block)) * static_cast<int>(kThreads);
        EXPECT(found[block] == moved * static_cast<int>(kThreads), "%d at block %u", found[block], block);
        for (unsigned thread = 0; thread < kThreads; ++thread) {
            const int value = at_end[block * kThreads + thread];
            EXPECT(value == origin * static_cast<int>(kThreads) + static_cast<int>(thread), "%d at %u of block %u",
                   value, thread, block);
        }
    }
}

// The largest grid that is there at once, of blocks with much shared memory: a sum over all of it, by halves, with a
// barrier between them.
__global__ void sum_by_halves(unsigned* values, unsigned count) {
    const cg::grid_group grid = cg::this_grid();
    for (unsigned i = grid.thread_rank(); i < count; i += grid.size()) values[i] = i;
    for (unsigned half = count / 2; half > 0; half /= 2) {
        cg::sync(grid);
        for (unsigned i = grid.thread_rank(); i < half; i += grid.size()) values[i] += values[i + half];
    }
}

void check_a_whole_wave() {
    int blocks = 0, multiprocessors = 0, supported = 0;
    CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(supported == 1, "%d", supported);
    constexpr int kShared = 100 << 10;
    CUDA_OK(cudaFuncSetAttribute(sum_by_halves, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_by_halves, 64, kShared));
    CUDA_OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const auto wave = static_cast<unsigned>(blocks * multiprocessors);
    unsigned count = 1 << 17;
    device_array<unsigned> values(count);
    unsigned* data = values.data();
    void* arguments[] = {&data, &count};
    CUDA_OK(cudaLaunchCooperativeKernel(sum_by_halves, dim3(wave), dim3(64), arguments, kShared));
    const unsigned expected = static_cast<unsigned>(std::uint64_t{count} * (count - 1) / 2);
    EXPECT(values.values()[0] == expected, "%u, not %u", values.values()[0], expected);
    const cudaError_t status = cudaLaunchCooperativeKernel(sum_by_halves, dim3(wave + 1), dim3(64), arguments, kShared);
    EXPECT(status == cudaErrorCooperativeLaunchTooLarge, "%s", cudaGetErrorName(status));
    cudaGetLastError();
}

__global__ void tell_whether_valid(int* out) { *out = cg::this_grid().is_valid(); }

void check_by_attribute() {
    device_array<int> out(1);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA_OK(cudaLaunchKernelEx(&config, tell_whether_valid, out.data()));
    EXPECT(out.values()[0] == 1, "%d", out.values()[0]);
}

}  // namespace

int main() {
    check_rounds();
    check_a_whole_wave();
    check_by_attribute();
    return verdict();
}
