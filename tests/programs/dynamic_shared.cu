// Dynamic shared memory: declared in kernels, at namespace scope and in templates; several arrays in one; more than
// 48 KiB.
#include <cuda_runtime.h>

#include "program.hpp"

// Declared once for several kernels.
extern __shared__ int shared_by_kernels[];

__global__ void reverse_at_namespace_scope(int* values) {
    shared_by_kernels[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared_by_kernels[blockDim.x - 1 - threadIdx.x];
}

__device__ int neighbour_in_shared(int distance) { return shared_by_kernels[(threadIdx.x + distance) % blockDim.x]; }

__global__ void rotate_at_namespace_scope(int* values, int distance) {
    shared_by_kernels[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = neighbour_in_shared(distance);
}

__global__ void reverse_in_kernel(float* values) {
    extern __shared__ float in_kernel[];
    in_kernel[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = in_kernel[blockDim.x - 1 - threadIdx.x];
}

// A template cannot declare one name with several types, so programs ask a struct for the memory.
template <class T>
struct shared_memory {
    __device__ operator T*() {
        extern __shared__ int untyped[];
        return reinterpret_cast<T*>(untyped);
    }
};
template <>
struct shared_memory<double> {
    __device__ operator double*() {
        extern __shared__ double untyped_doubles[];
        return untyped_doubles;
    }
};

template <class T>
__global__ void reverse_typed(T* values) {
    T* shared = shared_memory<T>();
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

// The other way that is often seen: raw aligned bytes.
template <class T>
__global__ void rotate_typed(T* values) {
    extern __shared__ __align__(16) unsigned char raw[];
    T* shared = reinterpret_cast<T*>(raw);
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

// Static and dynamic memory together, and several arrays in the dynamic part.
__global__ void several_arrays(double* doubles, int* ints, char* chars) {
    __shared__ int offset;
    __shared__ float table[33];
    extern __shared__ double dynamic_part[];
    double* shared_doubles = dynamic_part;
    int* shared_ints = reinterpret_cast<int*>(&shared_doubles[blockDim.x]);
    char* shared_chars = reinterpret_cast<char*>(&shared_ints[blockDim.x]);
    if (threadIdx.x == 0) offset = 5;
    if (threadIdx.x < 33) table[threadIdx.x] = 0.5f * threadIdx.x;
    shared_doubles[threadIdx.x] = doubles[threadIdx.x];
    shared_ints[threadIdx.x] = ints[threadIdx.x];
    shared_chars[threadIdx.x] = chars[threadIdx.x];
    __syncthreads();
    const int other = (threadIdx.x + offset) % blockDim.x;
    doubles[threadIdx.x] = shared_doubles[other] + table[other % 33];
    ints[threadIdx.x] = shared_ints[other];
    chars[threadIdx.x] = shared_chars[other];
}

// Each block uses all of the memory that it was given.
__global__ void use_all(int* out, int words) {
    extern __shared__ int all_words[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) all_words[i] = i * 3 + blockIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += all_words[words - 1 - i];
    atomicAdd(&out[blockIdx.x], sum);
}

template <class T, class Launch>
void check_moved(const char* name, int threads, int (*source)(int, int), Launch launch) {
    std::vector<T> values(threads);
    for (int i = 0; i < threads; ++i) values[i] = static_cast<T>(i * 5 % 121);
    device_array<T> device(values);
    launch(device.data(), threads);
    const std::vector<T> out = device.values();
    for (int i = 0; i < threads; ++i) {
        EXPECT(out[i] == values[source(i, threads)], "%s, %d threads: element %d", name, threads, i);
    }
}

int reversed(int i, int threads) { return threads - 1 - i; }
int next(int i, int threads) { return (i + 1) % threads; }

template <class T>
void check_type(const char* name) {
    for (const int threads : {1, 31, 256, 1000}) {
        check_moved<T>(name, threads, reversed,
                       [](T* values, int n) { reverse_typed<T><<<1, n, n * sizeof(T)>>>(values); });
        check_moved<T>(name, threads, next, [](T* values, int n) { rotate_typed<T><<<1, n, n * sizeof(T)>>>(values); });
    }
}

void check_several_arrays() {
    const int threads = 192;
    std::vector<double> doubles(threads);
    std::vector<int> ints(threads);
    std::vector<char> chars(threads);
    for (int i = 0; i < threads; ++i) {
        doubles[i] = i * 0.25;
        ints[i] = -i;
        chars[i] = static_cast<char>(i % 100);
    }
    device_array<double> doubles_device(doubles);
    device_array<int> ints_device(ints);
    device_array<char> chars_device(chars);
    const size_t bytes = threads * (sizeof(double) + sizeof(int) + sizeof(char));
    several_arrays<<<1, threads, bytes>>>(doubles_device.data(), ints_device.data(), chars_device.data());
    const std::vector<double> new_doubles = doubles_device.values();
    const std::vector<int> new_ints = ints_device.values();
    const std::vector<char> new_chars = chars_device.values();
    for (int i = 0; i < threads; ++i) {
        const int other = (i + 5) % threads;
        EXPECT(new_doubles[i] == doubles[other] + 0.5f * (other % 33), "double %d: %g", i, new_doubles[i]);
        EXPECT(new_ints[i] == ints[other], "int %d: %d", i, new_ints[i]);
        EXPECT(new_chars[i] == chars[other], "char %d: %d", i, new_chars[i]);
    }
}

void check_large() {
    const int bytes = 96 * 1024;
    const int words = bytes / 4;
    device_array<int> out(std::vector<int>(2, 0));
    // More than 48 KiB must be asked for.
    use_all<<<2, 128, bytes>>>(out.data(), words);
    EXPECT(cudaGetLastError() != cudaSuccess, "96 KiB without asking");
    CUDA_OK(cudaFuncSetAttribute(use_all, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    use_all<<<2, 128, bytes>>>(out.data(), words);
    const std::vector<int> sums = out.values();
    for (int block = 0; block < 2; ++block) {
        const int expected = static_cast<int>(3ll * words * (words - 1) / 2) + block * words;
        EXPECT(sums[block] == expected, "block %d: %d, expected %d", block, sums[block], expected);
    }
    cudaFuncAttributes attributes;
    CUDA_OK(cudaFuncGetAttributes(&attributes, use_all));
    EXPECT(attributes.maxDynamicSharedSizeBytes == bytes, "%d", attributes.maxDynamicSharedSizeBytes);
}

int main() {
    check_moved<int>("namespace scope", 100, reversed,
                     [](int* values, int n) { reverse_at_namespace_scope<<<1, n, n * sizeof(int)>>>(values); });
    check_moved<int>("namespace scope", 100, next,
                     [](int* values, int n) { rotate_at_namespace_scope<<<1, n, n * sizeof(int)>>>(values, 1); });
    check_moved<float>("in the kernel", 100, reversed,
                       [](float* values, int n) { reverse_in_kernel<<<1, n, n * sizeof(float)>>>(values); });
    check_type<int>("int");
    check_type<float>("float");
    check_type<double>("double");
    check_type<short>("short");
    check_type<long long>("long long");
    check_type<unsigned char>("unsigned char");
    check_several_arrays();
    check_large();
    return verdict();
}
