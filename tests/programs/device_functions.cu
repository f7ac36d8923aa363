// Device functions: recursion, function pointers, virtual functions, large local arrays, and functions that differ
// between host and device.
#include <cstring>

#include "program.hpp"

constexpr int kThreads = 64;

// --- recursion -------------------------------------------------------------------------------------------------------

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ bool is_odd(int n);
__device__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }
__device__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }

// Sorts a thread's own part of global memory.
__device__ void quicksort(int* first, int* last) {
    if (last - first < 2) return;
    const int pivot = first[(last - first) / 2];
    int* low = first;
    int* high = last - 1;
    while (low <= high) {
        while (*low < pivot) ++low;
        while (*high > pivot) --high;
        if (low > high) break;
        const int kept = *low;
        *low++ = *high;
        *high-- = kept;
    }
    quicksort(first, high + 1);
    quicksort(low, last);
}

__global__ void recurse(int* out, int* unsorted, int each) {
    const int i = threadIdx.x;
    out[i] = fibonacci(i % 12) * 2 + (is_even(i) ? 1 : 0);
    quicksort(unsorted + i * each, unsorted + (i + 1) * each);
}

void check_recursion() {
    const int each = 17;
    std::vector<int> unsorted(kThreads * each);
    for (size_t i = 0; i < unsorted.size(); ++i) unsorted[i] = static_cast<int>(i * 7919 % 1013);
    device_array<int> out_device(kThreads);
    device_array<int> sorted_device(unsorted);
    recurse<<<1, kThreads>>>(out_device.data(), sorted_device.data(), each);
    const std::vector<int> out = out_device.values();
    const std::vector<int> sorted = sorted_device.values();
    const int numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int i = 0; i < kThreads; ++i) {
        EXPECT(out[i] == numbers[i % 12] * 2 + (i % 2 == 0 ? 1 : 0), "thread %d: %d", i, out[i]);
        long sum = 0, expected = 0;
        for (int j = i * each; j < (i + 1) * each; ++j) {
            if (j > i * each) EXPECT(sorted[j - 1] <= sorted[j], "element %d", j);
            sum += sorted[j] * sorted[j];
            expected += unsorted[j] * unsorted[j];
        }
        EXPECT(sum == expected, "thread %d: other elements", i);
    }
}

// --- function pointers -----------------------------------------------------------------------------------------------

using binary_function = int (*)(int, int);

__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }

__device__ binary_function by_number[] = {plus, minus, times};
__device__ binary_function chosen_by_host = times;
__constant__ int factors[4] = {1, 10, 100, 1000};

__global__ void call_by_number(int* out) {
    const int i = threadIdx.x;
    binary_function function = by_number[i % 3];
    out[i] = function(i, 3) * factors[i % 4];
}

__global__ void call_pointer(binary_function function, int* out) { out[threadIdx.x] = function(threadIdx.x, 5); }

void check_function_pointers() {
    device_array<int> out_device(kThreads);
    call_by_number<<<1, kThreads>>>(out_device.data());
    std::vector<int> out = out_device.values();
    const int powers[] = {1, 10, 100, 1000};
    for (int i = 0; i < kThreads; ++i) {
        const int result = i % 3 == 0 ? i + 3 : i % 3 == 1 ? i - 3 : i * 3;
        EXPECT(out[i] == result * powers[i % 4], "thread %d: %d", i, out[i]);
    }
    // The host gets the pointer to a device function from a variable on the device.
    binary_function function;
    CUDA_OK(cudaMemcpyFromSymbol(&function, chosen_by_host, sizeof(function)));
    call_pointer<<<1, kThreads>>>(function, out_device.data());
    out = out_device.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(out[i] == i * 5, "thread %d: %d", i, out[i]);
}

// --- virtual functions -----------------------------------------------------------------------------------------------

struct shape {
    __device__ explicit shape(float given) : size(given) {}
    __device__ virtual ~shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual float corners() const { return 0; }
    float size;
};
struct square : shape {
    __device__ explicit square(float given) : shape(given) {}
    __device__ float area() const override { return size * size; }
    __device__ float corners() const override { return 4; }
};
struct disc final : shape {
    __device__ explicit disc(float given) : shape(given) {}
    __device__ float area() const override { return 3 * size * size; }
};

__noinline__ __device__ float describe(const shape& any) { return any.area() * 10 + any.corners(); }

__global__ void call_virtual(float* out) {
    const int i = threadIdx.x;
    const square on_stack(static_cast<float>(i));
    const disc other(static_cast<float>(i));
    out[i] = describe(i % 2 == 0 ? static_cast<const shape&>(on_stack) : other);
}

// Objects made by one kernel and used by the next.
__global__ void make_shapes(shape** shapes) {
    const int i = threadIdx.x;
    if (i % 3 == 0) {
        shapes[i] = new square(1.0f + i);
    } else {
        shapes[i] = new disc(1.0f + i);
    }
}
__global__ void use_shapes(shape** shapes, float* out) {
    out[threadIdx.x] = describe(*shapes[threadIdx.x]);
    delete shapes[threadIdx.x];
}

void check_virtual_functions() {
    device_array<float> out_device(kThreads);
    call_virtual<<<1, kThreads>>>(out_device.data());
    std::vector<float> out = out_device.values();
    for (int i = 0; i < kThreads; ++i) {
        const float expected = i % 2 == 0 ? 10.0f * i * i + 4 : 30.0f * i * i;
        EXPECT(out[i] == expected, "thread %d: %g", i, out[i]);
    }
    device_array<shape*> shapes(kThreads);
    make_shapes<<<1, kThreads>>>(shapes.data());
    use_shapes<<<1, kThreads>>>(shapes.data(), out_device.data());
    out = out_device.values();
    for (int i = 0; i < kThreads; ++i) {
        const float size = 1.0f + i;
        const float expected = i % 3 == 0 ? 10 * size * size + 4 : 30 * size * size;
        EXPECT(out[i] == expected, "thread %d: %g", i, out[i]);
    }
}

// --- local arrays ----------------------------------------------------------------------------------------------------

template <int Elements>
__device__ int through_local_array(int seed) {
    int values[Elements];
    for (int i = 0; i < Elements; ++i) values[i] = seed * 31 + i;
    // Places that depend on the values keep the array in memory.
    for (int i = 0; i < 100; ++i) {
        const int from = (seed * 17 + i * 29) % Elements;
        const int to = (seed * 13 + i * 7) % Elements;
        values[to] += values[from];
    }
    int sum = 0;
    for (int i = 0; i < Elements; ++i) sum += values[i] ^ i;
    return sum;
}

template <int Elements>
int on_host(int seed) {
    std::vector<int> values(Elements);
    for (int i = 0; i < Elements; ++i) values[i] = seed * 31 + i;
    for (int i = 0; i < 100; ++i) values[(seed * 13 + i * 7) % Elements] += values[(seed * 17 + i * 29) % Elements];
    int sum = 0;
    for (int i = 0; i < Elements; ++i) sum += values[i] ^ i;
    return sum;
}

template <int Elements>
__global__ void use_local_array(int* out) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = through_local_array<Elements>(thread);
}

template <int Elements>
void check_local_array() {
    device_array<int> out_device(2 * kThreads);
    use_local_array<Elements><<<2, kThreads>>>(out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < 2 * kThreads; ++i) {
        EXPECT(out[i] == on_host<Elements>(i), "%d elements, thread %d: %d", Elements, i, out[i]);
    }
}

// A local array whose elements other functions change, through a pointer and a reference.
__noinline__ __device__ void raise(int (&values)[8], int by) {
    for (int& value : values) value += by;
}
__noinline__ __device__ int last_of(const int* values, int count) { return values[count - 1]; }

__global__ void pass_local_array(int* out) {
    int values[8] = {1, 2, 3};
    values[7] = threadIdx.x;
    raise(values, 100);
    __syncthreads();  // the other threads' arrays are others
    raise(values, static_cast<int>(threadIdx.x));
    out[threadIdx.x] = last_of(values, 8) * 1000 + values[1];
}

void check_passed_array() {
    device_array<int> out_device(kThreads);
    pass_local_array<<<1, kThreads>>>(out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < kThreads; ++i) {
        EXPECT(out[i] == (100 + 2 * i) * 1000 + 102 + i, "thread %d: %d", i, out[i]);
    }
}

// --- both sides ------------------------------------------------------------------------------------------------------

__host__ __device__ int side() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__ >= 900 ? 2 : 3;
#else
    return 1;
#endif
}

#if defined(__CUDA_ARCH__)
#define SIDE_NAME 'd'
#else
#define SIDE_NAME 'h'
#endif

template <class T>
__host__ __device__ __forceinline__ T on_both(T value) {
    return value * 3 + side();
}

constexpr __host__ __device__ int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

struct vector3 {
    float x, y, z;
    __host__ __device__ vector3 operator+(const vector3& other) const {
        return {x + other.x, y + other.y, z + other.z};
    }
    __host__ __device__ friend vector3 operator*(float factor, const vector3& v) {
        return {factor * v.x, factor * v.y, factor * v.z};
    }
    __host__ __device__ float dot(const vector3& other) const { return x * other.x + y * other.y + z * other.z; }
};

static __device__ __forceinline__ int forced(int value) { return value + 1; }
__device__ static __inline__ int inlined(int value) { return value + 2; }
inline __device__ int plainly_inline(int value) { return value + 4; }

__device__ int counter_on_device = 5;
__device__ const int table_on_device[] = {3, 1, 4, 1, 5};
static __constant__ float scale = 0.5f;

__global__ void on_device(int* out, float* dots) {
    const int i = threadIdx.x;
    static_assert(power(2, 10) == 1024, "constexpr");
    __shared__ int sized[power(2, 6)];
    sized[i] = forced(inlined(plainly_inline(on_both(i))));
    __syncthreads();
    const vector3 a = {1, 2, static_cast<float>(i)};
    const vector3 b = 2 * a + a;
    dots[i] = a.dot(b) * scale;
    out[i] = sized[i] * 100 + SIDE_NAME + table_on_device[i % 5] + counter_on_device;
}

void check_both_sides() {
    device_array<int> out_device(kThreads);
    device_array<float> dots_device(kThreads);
    int counter = 6;
    CUDA_OK(cudaMemcpyToSymbol(counter_on_device, &counter, sizeof(int)));
    const float new_scale = 0.25f;
    CUDA_OK(cudaMemcpyToSymbol(scale, &new_scale, sizeof(float)));
    on_device<<<1, kThreads>>>(out_device.data(), dots_device.data());
    const std::vector<int> out = out_device.values();
    const std::vector<float> dots = dots_device.values();
    const int table[] = {3, 1, 4, 1, 5};
    for (int i = 0; i < kThreads; ++i) {
        EXPECT(out[i] == (i * 3 + 2 + 7) * 100 + 'd' + table[i % 5] + 6, "thread %d: %d", i, out[i]);
        EXPECT(dots[i] == 0.25f * 3 * (5 + float(i) * i), "thread %d: %g", i, dots[i]);
    }
    EXPECT(on_both(10) == 31, "%d", on_both(10));
    EXPECT(SIDE_NAME == 'h', "%c", SIDE_NAME);
    const vector3 a = {1, 2, 3};
    EXPECT((2 * a + a).dot(a) == 42, "%g", (2 * a + a).dot(a));
}

// --- the C library on the device -------------------------------------------------------------------------------------

__global__ void library_calls(const char* text, int* out) {
    const int i = threadIdx.x;
    char copy[32];
    memset(copy, 0, sizeof(copy));
    memcpy(copy, text + i % 4, 16);
    int length = 0;
    while (copy[length] != 0) ++length;
    int* heap = static_cast<int*>(malloc(4 * sizeof(int)));
    heap[i % 4] = length;
    int* more = new int[3]{1, 2, i};
    out[i] = heap[i % 4] * 100 + more[2] + max(i, 3) + min(i, 2) + abs(-i);
    free(heap);
    delete[] more;
}

void check_library_calls() {
    const char text[20] = "transposed";
    device_array<char> text_device(std::vector<char>(text, text + sizeof(text)));
    device_array<int> out_device(kThreads);
    library_calls<<<1, kThreads>>>(text_device.data(), out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < kThreads; ++i) {
        const int expected = (10 - i % 4) * 100 + i + (i > 3 ? i : 3) + (i < 2 ? i : 2) + i;
        EXPECT(out[i] == expected, "thread %d: %d, expected %d", i, out[i], expected);
    }
}

int main() {
    // Recursion and the large arrays need more stack than a GPU gives at first.
    CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 64 * 1024));
    check_recursion();
    check_function_pointers();
    check_virtual_functions();
    check_local_array<1024>();       // 4 KiB
    check_local_array<10 * 1024>();  // 40 KiB
    check_passed_array();
    check_both_sides();
    check_library_calls();
    return verdict();
}
