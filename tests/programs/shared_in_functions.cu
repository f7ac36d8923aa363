// Static shared arrays in device functions: two kernels call them, and functions call each other.
#include "program.hpp"

constexpr int kThreads = 128;

// Sums over the block. The second barrier lets the next call use the array again.
__device__ int block_sum(int value) {
    __shared__ int partial[kThreads];
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    const int sum = partial[0];
    __syncthreads();
    return sum;
}

// One array for each type and size that the template is used with.
template <class T, int Elements>
__device__ T largest_of_block(T value) {
    __shared__ T values[Elements];
    static_assert(Elements >= kThreads, "one element a thread");
    values[threadIdx.x] = value;
    __syncthreads();
    T largest = values[0];
    for (int i = 1; i < kThreads; ++i) largest = values[i] > largest ? values[i] : largest;
    __syncthreads();
    return largest;
}

// Calls another function that has shared memory while its own holds values.
__noinline__ __device__ int sum_of_neighbours(int value) {
    __shared__ int own[kThreads + 2];
    own[threadIdx.x + 1] = value;
    if (threadIdx.x == 0) {
        own[0] = 0;
        own[kThreads + 1] = 0;
    }
    const int total = block_sum(value);
    return own[threadIdx.x] + own[threadIdx.x + 2] + total;
}

struct with_shared_member_function {
    int factor;
    __device__ int rotated(int value) const {
        __shared__ int values[kThreads];
        values[threadIdx.x] = value * factor;
        __syncthreads();
        const int result = values[(threadIdx.x + 1) % kThreads];
        __syncthreads();
        return result;
    }
};

__global__ void first_kernel(const int* in, int* out) {
    const int value = in[blockIdx.x * kThreads + threadIdx.x];
    const int sum = block_sum(value);
    const int again = block_sum(sum + threadIdx.x);
    out[blockIdx.x * kThreads + threadIdx.x] = sum * 2 + again;
}

__global__ void second_kernel(const int* in, int* out) {
    __shared__ int tile[2][kThreads / 2 + 1];  // the kernel's own, beside the functions'
    const int value = in[blockIdx.x * kThreads + threadIdx.x];
    tile[threadIdx.x / (kThreads / 2)][threadIdx.x % (kThreads / 2)] = value;
    const int neighbours = sum_of_neighbours(value);
    const float largest = largest_of_block<float, kThreads>(0.5f * value);
    const int largest_int = largest_of_block<int, kThreads>(-value);
    const int rotated = with_shared_member_function{3}.rotated(value);
    const int kept = tile[1 - threadIdx.x / (kThreads / 2)][threadIdx.x % (kThreads / 2)];
    out[blockIdx.x * kThreads + threadIdx.x] =
        neighbours + static_cast<int>(2 * largest) + largest_int + rotated + kept;
}

int main() {
    const int blocks = 3;
    std::vector<int> in(blocks * kThreads);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 1009);
    device_array<int> in_device(in);
    device_array<int> out_device(in.size());

    first_kernel<<<blocks, kThreads>>>(in_device.data(), out_device.data());
    const std::vector<int> first = out_device.values();
    second_kernel<<<blocks, kThreads>>>(in_device.data(), out_device.data());
    const std::vector<int> second = out_device.values();

    for (int block = 0; block < blocks; ++block) {
        const int* values = &in[block * kThreads];
        int sum = 0, largest = values[0], smallest = values[0];
        for (int i = 0; i < kThreads; ++i) {
            sum += values[i];
            largest = values[i] > largest ? values[i] : largest;
            smallest = values[i] < smallest ? values[i] : smallest;
        }
        for (int i = 0; i < kThreads; ++i) {
            const int again = sum * kThreads + kThreads * (kThreads - 1) / 2;
            EXPECT(first[block * kThreads + i] == sum * 2 + again, "block %d, thread %d", block, i);
            const int left = i > 0 ? values[i - 1] : 0;
            const int right = i < kThreads - 1 ? values[i + 1] : 0;
            const int expected = left + right + sum + largest - smallest + 3 * values[(i + 1) % kThreads] +
                                 values[(i + kThreads / 2) % kThreads];
            EXPECT(second[block * kThreads + i] == expected, "block %d, thread %d: %d, expected %d", block, i,
                   second[block * kThreads + i], expected);
        }
    }
    return verdict();
}
