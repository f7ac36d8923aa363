// flags: --expt-relaxed-constexpr
// CUDA's C++ library in kernels: cuda::atomic, cuda::atomic_ref, and parts of cuda::std.
#include <cuda/atomic>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstdint>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include "program.hpp"

constexpr int kBlocks = 3;
constexpr int kThreads = 96;
constexpr int kAllThreads = kBlocks * kThreads;

template <class T>
struct counters {
    T sum, difference, largest, smallest, exchanged, swapped;
};

template <class T>
__global__ void update(counters<T>* all, T* old) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    using reference = cuda::atomic_ref<T, cuda::thread_scope_device>;
    old[thread] = reference(all->sum).fetch_add(1, cuda::memory_order_relaxed);
    reference(all->difference)--;
    reference(all->difference) -= 2;
    reference(all->largest).fetch_max(static_cast<T>(thread));
    reference(all->smallest).fetch_min(static_cast<T>(500 - thread));
    reference(all->exchanged).exchange(static_cast<T>(thread), cuda::memory_order_acq_rel);
    reference swapped(all->swapped);
    T seen = swapped.load(cuda::memory_order_relaxed);
    while (!swapped.compare_exchange_weak(seen, seen + 3)) {
    }
}

template <class T>
void check_references(const char* name) {
    counters<T> start = {};
    start.difference = T(10000);
    start.smallest = T(1000);
    device_array<counters<T>> all(std::vector<counters<T>>(1, start));
    device_array<T> old(kAllThreads);
    update<<<kBlocks, kThreads>>>(all.data(), old.data());
    const counters<T> last = all.values()[0];
    EXPECT(last.sum == T(kAllThreads), "%s: %g", name, double(last.sum));
    EXPECT(last.difference == T(10000 - 3 * kAllThreads), "%s: %g", name, double(last.difference));
    EXPECT(last.largest == T(kAllThreads - 1), "%s: %g", name, double(last.largest));
    EXPECT(last.smallest == T(500 - (kAllThreads - 1)), "%s: %g", name, double(last.smallest));
    EXPECT(last.exchanged < T(kAllThreads), "%s: %g", name, double(last.exchanged));
    EXPECT(last.swapped == T(3 * kAllThreads), "%s: %g", name, double(last.swapped));
    std::vector<int> times(kAllThreads);
    for (const T value : old.values()) {
        EXPECT(value < T(kAllThreads) && times[static_cast<int>(value)]++ == 0, "%s: %g", name, double(value));
    }
}

// An object with its own atomics, in global and in shared memory.
struct statistics {
    cuda::atomic<unsigned, cuda::thread_scope_device> bits;
    cuda::atomic<unsigned long long, cuda::thread_scope_device> total;
    cuda::atomic<int, cuda::thread_scope_device> ready;
};

__global__ void use_objects(statistics* all, int* out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> in_block;
    if (threadIdx.x == 0) in_block.store(100, cuda::memory_order_relaxed);
    __syncthreads();
    ++in_block;
    all->bits |= 1u << threadIdx.x % 32;
    all->bits.fetch_and(~4u);
    all->total += static_cast<unsigned long long>(threadIdx.x) << 32;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = in_block;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

// One thread of a block tells another one through a flag.
__global__ void pass_message(statistics* all, int* message, int* out) {
    if (threadIdx.x == 0) {
        *message = 42;
        all->ready.store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        while (all->ready.load(cuda::memory_order_acquire) == 0) {
        }
        *out = *message + 1;
    }
}

void check_objects() {
    device_array<statistics> all(1);
    CUDA_OK(cudaMemset(static_cast<void*>(all.data()), 0, sizeof(statistics)));
    device_array<int> out(kAllThreads);
    use_objects<<<kBlocks, kThreads>>>(all.data(), out.data());
    const std::vector<int> values = out.values();
    for (int i = 0; i < kAllThreads; ++i) EXPECT(values[i] == 100 + kThreads, "thread %d: %d", i, values[i]);
    unsigned bits = 0;
    unsigned long long total = 0;
    CUDA_OK(cudaMemcpy(&bits, &all.data()->bits, sizeof(bits), cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(&total, &all.data()->total, sizeof(total), cudaMemcpyDeviceToHost));
    EXPECT((bits | 4u) == 0xffffffffu, "%x", bits);
    EXPECT(total == (kBlocks * (kThreads * (kThreads - 1) / 2ull)) << 32, "%llx", total);

    device_array<int> message(1), answer(1);
    pass_message<<<1, 64>>>(all.data(), message.data(), answer.data());
    EXPECT(answer.values()[0] == 43, "%d", answer.values()[0]);
}

template <class T>
__device__ cuda::std::enable_if_t<cuda::std::is_integral<T>::value, int> kind_of(T) {
    return 1;
}
template <class T>
__device__ cuda::std::enable_if_t<cuda::std::is_floating_point<T>::value, int> kind_of(T) {
    return 2;
}

__global__ void use_standard(double* out) {
    const int i = threadIdx.x;
    cuda::std::array<int, 4> numbers = {1, 2, 3, i};
    const cuda::std::tuple<int, double> both = cuda::std::make_tuple(numbers[3], 0.5);
    cuda::std::complex<double> product = cuda::std::complex<double>(1, 2) * cuda::std::complex<double>(3, i);
    int first = 1, second = 2;
    cuda::std::swap(first, second);
    const cuda::std::int64_t large = cuda::std::numeric_limits<cuda::std::int32_t>::max();
    out[i] = cuda::std::get<0>(both) + cuda::std::get<1>(both) + product.real() + product.imag() * 10 + first * 1000 +
             kind_of(i) * 10000 + kind_of(0.5f) * 100000 + cuda::std::abs(-2.0) + (large == 2147483647 ? 0 : 1e9) +
             cuda::maximum<int>{}(i, 5) + cuda::minimum<>{}(i, 7);
}

void check_standard() {
    device_array<double> out(kThreads);
    use_standard<<<1, kThreads>>>(out.data());
    const std::vector<double> values = out.values();
    for (int i = 0; i < kThreads; ++i) {
        const double expected =
            i + 0.5 + (3 - 2 * i) + (6 + i) * 10 + 2000 + 10000 + 200000 + 2 + (i > 5 ? i : 5) + (i < 7 ? i : 7);
        EXPECT(values[i] == expected, "thread %d: %g, expected %g", i, values[i], expected);
    }
}

int main() {
    check_references<int>("int");
    check_references<unsigned>("unsigned");
    check_references<long long>("long long");
    check_references<unsigned long long>("unsigned long long");
    check_references<float>("float");
    check_references<double>("double");
    check_references<short>("short");
    check_objects();
    check_standard();
    return verdict();
}
