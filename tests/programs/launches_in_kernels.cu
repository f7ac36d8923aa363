// Kernels that launch kernels.
#include "program.hpp"

namespace {

struct job {
    int first, count;
    double scale;
};

__global__ void fill(int* out, job what, float shift) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < what.count) out[what.first + i] = static_cast<int>(what.scale * i + shift);
}

// Each thread launches a grid for its own part. The values that it launches with are those at the launch.
__global__ void fill_parts(int* out, int parts, int count) {
    job mine{static_cast<int>(threadIdx.x) * count, count, 2.0};
    if (static_cast<int>(threadIdx.x) < parts) {
        fill<<<(count + 31) / 32, 32>>>(out, mine, __shfl_sync(0xffffffffu >> (32 - parts), 7.0f, 0));
        mine.scale = -1;
    }
}

__device__ void launch_halves(int* counts, int depth);

// Each grid launches two until the depth is reached; counts[d] counts the threads at depth d.
__global__ void halve(int* counts, int depth) {
    extern __shared__ int kept[];
    kept[threadIdx.x] = 1;
    __syncthreads();
    atomicAdd(&counts[depth], kept[threadIdx.x]);
    if (threadIdx.x == 0 && depth < 4) launch_halves(counts, depth + 1);
}

__device__ void launch_halves(int* counts, int depth) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2; ++i) halve<<<1, 32, 32 * sizeof(int), stream>>>(counts, depth);
    cudaStreamDestroy(stream);
}

template <int kNumber>
__global__ void append(int* list) {
    list[1 + list[0]++] = kNumber;
}

// A tail launch comes after all others, and what they launch.
template <int kNumber>
__global__ void append_between(int* list) {
    append<kNumber><<<1, 1>>>(list);
}
__global__ void in_order(int* list) {
    append<9><<<1, 1, 0, cudaStreamTailLaunch>>>(list);
    append_between<1><<<1, 1>>>(list);
    append<2><<<1, 1>>>(list);
}

void check_parts() {
    constexpr int kParts = 5, kCount = 70;
    device_array<int> out(kParts * kCount);
    fill_parts<<<1, 32>>>(out.data(), kParts, kCount);
    const std::vector<int> found = out.values();
    for (int i = 0; i < kParts * kCount; ++i) EXPECT(found[i] == i % kCount * 2 + 7, "%d at %d", found[i], i);
}

void check_depth() {
    device_array<int> counts(5);
    counts.fill(0);
    halve<<<3, 32, 32 * sizeof(int)>>>(counts.data(), 0);
    const std::vector<int> found = counts.values();
    for (int depth = 0; depth < 5; ++depth)
        EXPECT(found[depth] == 3 * 32 << depth, "%d at depth %d", found[depth], depth);
}

void check_order() {
    device_array<int> list(4);
    list.fill(0);
    in_order<<<1, 1>>>(list.data());
    const std::vector<int> found = list.values();
    EXPECT(found[0] == 3 && found[3] == 9, "%d, last %d", found[0], found[3]);
    EXPECT(found[1] + found[2] == 3, "%d and %d", found[1], found[2]);
}

// What is no kernel: append<9> has no address on the host.
void on_the_host(void*) {}
void check_others() {
    cudaFuncAttributes found;
    EXPECT(cudaFuncGetAttributes(&found, static_cast<const void*>(nullptr)) == cudaErrorInvalidDeviceFunction, "null");
    EXPECT(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(1), nullptr, 0, nullptr) ==
               cudaErrorInvalidDeviceFunction,
           "null");
    EXPECT(cudaFuncGetAttributes(&found, reinterpret_cast<const void*>(on_the_host)) != cudaSuccess, "no kernel");
    cudaGetLastError();
}

}  // namespace

int main() {
    check_others();
    check_parts();
    check_depth();
    check_order();
    return verdict();
}
