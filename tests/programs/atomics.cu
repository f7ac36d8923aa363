// Every atomic function, for every type that has it: the final value, and the old value that each thread received.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "program.hpp"

constexpr int kBlocks = 3;
constexpr int kThreads = 96;
constexpr int kAllThreads = kBlocks * kThreads;

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Each operation on one variable by all threads. The old values go to `old`.
struct add_one {
    template <class T>
    __device__ T operator()(T* at, int) const {
        return atomicAdd(at, static_cast<T>(1));
    }
};
struct add_one_block {
    template <class T>
    __device__ T operator()(T* at, int) const {
        return atomicAdd_block(at, static_cast<T>(1));
    }
};
struct add_one_system {
    template <class T>
    __device__ T operator()(T* at, int) const {
        return atomicAdd_system(at, static_cast<T>(1));
    }
};
struct subtract_one {
    template <class T>
    __device__ T operator()(T* at, int) const {
        return atomicSub(at, static_cast<T>(1));
    }
};
struct exchange {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicExch(at, static_cast<T>(thread + 1));
    }
};
struct smallest {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicMin(at, static_cast<T>(500 - thread));
    }
};
struct largest {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicMax(at, static_cast<T>(thread * 3));
    }
};
struct clear_bit {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicAnd(at, ~(static_cast<T>(1) << thread % (sizeof(T) * 8)));
    }
};
struct set_bit {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicOr(at, static_cast<T>(1) << thread % (sizeof(T) * 8));
    }
};
struct flip_bit {
    template <class T>
    __device__ T operator()(T* at, int thread) const {
        return atomicXor(at, static_cast<T>(1) << thread % (sizeof(T) * 8));
    }
};
struct wrap_up {
    __device__ unsigned operator()(unsigned* at, int) const { return atomicInc(at, 6); }
};
struct wrap_down {
    __device__ unsigned operator()(unsigned* at, int) const { return atomicDec(at, 4); }
};
// A loop around compare-and-swap, as programs write it.
struct swap_until_done {
    template <class T>
    __device__ T operator()(T* at, int) const {
        T seen = *static_cast<volatile T*>(at);
        for (;;) {
            const T old = atomicCAS(at, seen, static_cast<T>(seen + 1));
            if (old == seen) return old;
            seen = old;
        }
    }
};

template <class T, class Operation>
__global__ void apply(T* at, T* old, Operation operation) {
    old[thread_number()] = operation(at, thread_number());
}

template <class T>
struct outcome {
    T last;
    std::vector<T> old;
};

template <class T, class Operation>
outcome<T> run(T start, Operation operation, int blocks = kBlocks) {
    device_array<T> at(std::vector<T>(1, start));
    device_array<T> old(blocks * kThreads);
    apply<<<blocks, kThreads>>>(at.data(), old.data(), operation);
    return {at.values()[0], old.values()};
}

// Old values that must each occur once: from, from + step, ...
template <class T>
void expect_each_once(std::vector<T> old, T from, T step, const char* what) {
    std::sort(old.begin(), old.end());
    if (static_cast<T>(from + step) < from) std::reverse(old.begin(), old.end());
    for (size_t i = 0; i < old.size(); ++i) {
        const T expected = static_cast<T>(from + step * static_cast<T>(i));
        EXPECT(old[i] == expected, "%s: old value %zu is %g, expected %g", what, i, double(old[i]), double(expected));
    }
}

template <class T>
void check_sums(const char* name) {
    outcome<T> added = run(T(10), add_one{});
    EXPECT(added.last == T(10 + kAllThreads), "atomicAdd of %s: %g", name, double(added.last));
    expect_each_once(added.old, T(10), T(1), name);
    added = run(T(10), add_one_system{});
    EXPECT(added.last == T(10 + kAllThreads), "atomicAdd_system of %s: %g", name, double(added.last));
    expect_each_once(added.old, T(10), T(1), name);
    added = run(T(10), add_one_block{}, 1);
    EXPECT(added.last == T(10 + kThreads), "atomicAdd_block of %s: %g", name, double(added.last));
    expect_each_once(added.old, T(10), T(1), name);
}

template <class T>
void check_exchange(const char* name) {
    outcome<T> result = run(T(0), exchange{});
    // The old values and the last one are the start and all that was put in.
    std::vector<T> all = result.old;
    all.push_back(result.last);
    expect_each_once(all, T(0), T(1), name);
}

template <class T>
void check_swap(const char* name) {
    const outcome<T> result = run(T(7), swap_until_done{});
    EXPECT(result.last == T(7 + kAllThreads), "atomicCAS of %s: %g", name, double(result.last));
    expect_each_once(result.old, T(7), T(1), name);
}

template <class T>
void check_order_and_bits(const char* name) {
    const outcome<T> low = run(T(400), smallest{});
    EXPECT(low.last == T(500 - (kAllThreads - 1)), "atomicMin of %s: %g", name, double(low.last));
    for (const T old : low.old) EXPECT(old <= T(400) && old >= low.last, "atomicMin of %s: %g", name, double(old));
    const outcome<T> high = run(T(40), largest{});
    EXPECT(high.last == T((kAllThreads - 1) * 3), "atomicMax of %s: %g", name, double(high.last));
    for (const T old : high.old) EXPECT(old >= T(40) && old <= high.last, "atomicMax of %s: %g", name, double(old));
    if (T(-1) < T(0)) {
        EXPECT(run(T(-1000), largest{}, 1).last == T((kThreads - 1) * 3), "atomicMax of negative %s", name);
        EXPECT(run(T(-1000), smallest{}, 1).last == T(-1000), "atomicMin of negative %s", name);
    } else {
        EXPECT(run(T(-1), largest{}, 1).last == T(-1), "atomicMax of large %s", name);
        EXPECT(run(T(-1), smallest{}, 1).last == T(500 - (kThreads - 1)), "atomicMin of large %s", name);
    }

    const outcome<T> cleared = run(T(-1), clear_bit{});
    EXPECT(cleared.last == T(0), "atomicAnd of %s", name);
    const outcome<T> set = run(T(0), set_bit{});
    EXPECT(set.last == T(-1), "atomicOr of %s", name);
    EXPECT(std::count(set.old.begin(), set.old.end(), T(0)) == 1, "atomicOr of %s: one thread is first", name);
    // 288 threads flip each bit an odd number of times (9) with 32 bits; 64 bits: the lower half 5 times.
    const outcome<T> flipped = run(T(0), flip_bit{});
    EXPECT(flipped.last == (sizeof(T) == 4 ? T(-1) : T(0xffffffffu)), "atomicXor of %s", name);
}

// Half precision has no comparison on the host, so the results are converted first.
template <class T>
__global__ void add_small(T* at, float* old) {
    old[thread_number()] = static_cast<float>(atomicAdd(at, static_cast<T>(1.0f)));
}

template <class T>
__global__ void to_floats(const T* in, float* out) {
    *out = static_cast<float>(*in);
}

template <class T>
void check_small_sums(const char* name) {
    device_array<T> at(1);
    device_array<float> old(kThreads), last(1);
    CUDA_OK(cudaMemset(at.data(), 0, sizeof(T)));
    add_small<<<1, kThreads>>>(at.data(), old.data());
    to_floats<<<1, 1>>>(at.data(), last.data());
    EXPECT(last.values()[0] == kThreads, "atomicAdd of %s: %g", name, last.values()[0]);
    expect_each_once(old.values(), 0.0f, 1.0f, name);
}

__global__ void add_pairs(__half2* halves, __nv_bfloat162* bfloats, float2* results) {
    atomicAdd(&halves[threadIdx.x % 4], __floats2half2_rn(1.0f, 2.0f));
    atomicAdd(&bfloats[threadIdx.x % 4], __floats2bfloat162_rn(2.0f, -1.0f));
    __syncthreads();
    if (threadIdx.x < 4) {
        results[threadIdx.x] = __half22float2(halves[threadIdx.x]);
        results[4 + threadIdx.x] = __bfloat1622float2(bfloats[threadIdx.x]);
    }
}

void check_pairs() {
    device_array<__half2> halves(4);
    device_array<__nv_bfloat162> bfloats(4);
    device_array<float2> results(8);
    CUDA_OK(cudaMemset(halves.data(), 0, 4 * sizeof(__half2)));
    CUDA_OK(cudaMemset(bfloats.data(), 0, 4 * sizeof(__nv_bfloat162)));
    add_pairs<<<1, kThreads>>>(halves.data(), bfloats.data(), results.data());
    const std::vector<float2> sums = results.values();
    for (int i = 0; i < 4; ++i) {
        EXPECT(sums[i].x == 24 && sums[i].y == 48, "half2 %d: %g %g", i, sums[i].x, sums[i].y);
        EXPECT(sums[4 + i].x == 48 && sums[4 + i].y == -24, "bfloat162 %d: %g %g", i, sums[4 + i].x, sums[4 + i].y);
    }
}

// Atomics in shared memory: a histogram, then its bins added to global memory.
__global__ void histogram(const unsigned char* in, int elements, unsigned* bins) {
    __shared__ unsigned local[16];
    __shared__ float weight;
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    if (threadIdx.x == 0) weight = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < elements; i += blockDim.x) {
        atomicAdd(&local[in[i] % 16], 1u);
        atomicAdd(&weight, 0.5f);
    }
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&bins[16], static_cast<unsigned>(2 * weight));
}

void check_shared() {
    std::vector<unsigned char> in(5000);
    std::vector<unsigned> expected(17);
    for (size_t i = 0; i < in.size(); ++i) {
        in[i] = static_cast<unsigned char>(i * i / 7);
        expected[in[i] % 16] += 2;
        expected[16] += 2;
    }
    device_array<unsigned char> in_device(in);
    device_array<unsigned> bins(std::vector<unsigned>(17, 0));
    histogram<<<2, kThreads>>>(in_device.data(), static_cast<int>(in.size()), bins.data());
    EXPECT(bins.values() == expected, "the histogram");
}

// The _block forms of the rest, and the last block that finishes, as in a reduction over blocks.
__global__ void other_forms(int* values, unsigned long long* large, unsigned* finished, int* last_block) {
    atomicSub_block(&values[0], 1);
    atomicMax_system(&values[1], static_cast<int>(threadIdx.x));
    atomicMin_system(&values[2], -static_cast<int>(threadIdx.x));
    atomicOr_system(&values[3], 1 << threadIdx.x % 8);
    atomicAnd_system(&values[4], ~(1 << threadIdx.x % 8));
    atomicXor_system(&values[5], 1 << threadIdx.x % 8);
    if (threadIdx.x == 0) {
        atomicCAS_system(&values[6], 5, 6);
        atomicExch_system(&values[7], 77);
        atomicExch(large, 1ull << 50);
        atomicMax(large + 1, 1ull << 51);
        __threadfence();
        const unsigned ticket = atomicInc(finished, gridDim.x - 1);
        if (ticket == gridDim.x - 1) atomicAdd(last_block, 1);
    }
}

void check_other_forms() {
    const std::vector<int> start = {0, 3, 3, 0x100, 0xffff, 0, 5, 0};
    device_array<int> values(start);
    device_array<unsigned long long> large(std::vector<unsigned long long>(2, 5));
    device_array<unsigned> finished(std::vector<unsigned>(1, 0));
    device_array<int> last_block(std::vector<int>(1, 0));
    other_forms<<<1, kThreads>>>(values.data(), large.data(), finished.data(), last_block.data());
    const std::vector<int> expected = {-kThreads, kThreads - 1, -(kThreads - 1), 0x1ff, 0xff00, 0, 6, 77};
    EXPECT(values.values() == expected, "the other forms");
    EXPECT(large.values()[0] == 1ull << 50 && large.values()[1] == 1ull << 51, "large values");
    other_forms<<<5, kThreads>>>(values.data(), large.data(), finished.data(), last_block.data());
    EXPECT(last_block.values()[0] == 2, "one block of each launch finishes last: %d", last_block.values()[0]);
    EXPECT(finished.values()[0] == 0, "the count starts again: %u", finished.values()[0]);
}

int main() {
    check_sums<int>("int");
    check_sums<unsigned>("unsigned");
    check_sums<unsigned long long>("unsigned long long");
    check_sums<float>("float");
    check_sums<double>("double");
    check_small_sums<__half>("half");
    check_small_sums<__nv_bfloat16>("bfloat16");
    check_pairs();

    const outcome<int> less = run(3, subtract_one{});
    EXPECT(less.last == 3 - kAllThreads, "atomicSub: %d", less.last);
    expect_each_once(less.old, 3, -1, "atomicSub");
    const outcome<unsigned> less_unsigned = run(5u + kAllThreads, subtract_one{});
    EXPECT(less_unsigned.last == 5, "atomicSub of unsigned: %u", less_unsigned.last);

    check_exchange<int>("atomicExch of int");
    check_exchange<unsigned>("atomicExch of unsigned");
    check_exchange<unsigned long long>("atomicExch of unsigned long long");
    check_exchange<float>("atomicExch of float");

    check_swap<int>("int");
    check_swap<unsigned>("unsigned");
    check_swap<unsigned long long>("unsigned long long");
    check_swap<unsigned short>("unsigned short");

    check_order_and_bits<int>("int");
    check_order_and_bits<unsigned>("unsigned");
    check_order_and_bits<unsigned long long>("unsigned long long");
    EXPECT(run(-5ll, smallest{}).last == -5ll, "atomicMin of long long");
    EXPECT(run(-5ll, largest{}).last == (kAllThreads - 1) * 3, "atomicMax of long long");

    const outcome<unsigned> up = run(0u, wrap_up{});
    EXPECT(up.last == kAllThreads % 7, "atomicInc: %u", up.last);
    for (unsigned value = 0; value < 7; ++value) {
        const long times = std::count(up.old.begin(), up.old.end(), value);
        EXPECT(times == kAllThreads / 7 + (value < kAllThreads % 7 ? 1 : 0), "atomicInc: %u came %ld times", value,
               times);
    }
    EXPECT(run(100u, wrap_up{}, 1).last == (kThreads - 1) % 7, "atomicInc from above its limit");
    const outcome<unsigned> down = run(0u, wrap_down{});
    EXPECT(down.last == (5 - kAllThreads % 5) % 5, "atomicDec: %u", down.last);
    EXPECT(std::count(down.old.begin(), down.old.end(), 4u) == (kAllThreads + 3) / 5, "atomicDec");

    check_shared();
    check_other_forms();
    return verdict();
}
