// flags: --extended-lambda
// Kernels as templates, in namespaces, behind macros and pointers, and with arguments of every size. Every form of
// launch.
#include <cstring>

#include "program.hpp"

constexpr int kThreads = 64;

// --- templates -------------------------------------------------------------------------------------------------------

template <class T>
__global__ void deduced(T* out, T value) {
    out[threadIdx.x] = value + static_cast<T>(threadIdx.x);
}

template <int Step, bool Negative, class T = int>
__global__ void not_deduced(T* out) {
    out[threadIdx.x] = static_cast<T>(Negative ? -1 : 1) * static_cast<T>(Step * static_cast<int>(threadIdx.x));
}

template <class T, class Operation, int Times = 2>
__global__ void with_operation(T* out, Operation operation) {
    T value = static_cast<T>(threadIdx.x);
    for (int i = 0; i < Times; ++i) value = operation(value);
    out[threadIdx.x] = value;
}

struct add_three {
    template <class T>
    __device__ T operator()(T value) const {
        return value + 3;
    }
};

template <class... Arguments>
__global__ void variadic(double* out, Arguments... arguments) {
    out[threadIdx.x] = (0.0 + ... + static_cast<double>(arguments)) + sizeof...(Arguments);
}

template <template <class> class Holder, class T>
__global__ void of_template(Holder<T> holder, T* out) {
    out[threadIdx.x] = holder.value;
}
template <class T>
struct holder_of {
    T value;
};

// Explicit instantiations, of a kernel that nothing else instantiates for short.
template <class T>
__global__ void instantiated(T* out) {
    out[threadIdx.x] = static_cast<T>(sizeof(T));
}
template __global__ void instantiated<short>(short*);
template __global__ void instantiated<double>(double*);

// A declaration before the definition, and a specialization.
template <class T>
__global__ void declared_first(T* out);
template <>
__global__ void declared_first<char>(char* out) {
    out[threadIdx.x] = 'c';
}
template <class T>
__global__ void declared_first(T* out) {
    out[threadIdx.x] = static_cast<T>(7);
}

// --- names and linkage -----------------------------------------------------------------------------------------------

namespace {
__global__ void hidden(int* out) { out[threadIdx.x] = 11; }
}  // namespace

namespace outer {
namespace inner {
static __global__ void internal(int* out) { out[threadIdx.x] = 12; }
template <int Value>
__global__ void numbered(int* out) {
    out[threadIdx.x] = Value;
}
}  // namespace inner
}  // namespace outer

struct holds_kernel {
    template <int Value>
    static void launch(int* out) {
        outer::inner::numbered<Value><<<1, kThreads>>>(out);
    }
};

extern "C" __global__ void with_c_name(int* out) { out[threadIdx.x] = 13; }

__global__ void overloaded(int* out) { out[threadIdx.x] = 14; }
__global__ void overloaded(float* out) { out[threadIdx.x] = 15.0f; }

void __global__ attributes_in_another_order(int* out) { out[threadIdx.x] = 16; }
__global__ void __launch_bounds__(kThreads) with_bounds(int* out) { out[threadIdx.x] = 17; }
__global__ __launch_bounds__(128, 2) void with_two_bounds(int* out) { out[threadIdx.x] = 18; }

// --- arguments -------------------------------------------------------------------------------------------------------

template <int Bytes>
struct bytes_of {
    unsigned char bytes[Bytes];
};

template <int Bytes>
__global__ void takes_bytes(int before, bytes_of<Bytes> value, double after, int* out) {
    int sum = before + static_cast<int>(after);
    for (int i = 0; i < Bytes; ++i) sum += value.bytes[i] * (i % 3 + 1);
    out[threadIdx.x] = sum;
}

// The same sizes with members of several types.
struct mixed24 {
    char c;
    double d;
    short s;
    float f;
};
struct __align__(16) aligned16 {
    float x, y, z, w;
};

__global__ void takes_mixed(char c, mixed24 m, short s, aligned16 a, char d, const mixed24 n, double* out) {
    out[threadIdx.x] = c + m.c + m.d + m.s + m.f + s + a.x + a.y + a.z + a.w + d + n.d;
}

__global__ void takes_twenty(char a, short b, int c, long long d, float e, double f, bool g, unsigned char h,
                             unsigned short i, unsigned j, unsigned long long k, float2 l, int3 m, double* out, char n,
                             double o, char p, float q, short r, float4 s) {
    out[threadIdx.x] = a + b + c + d + e + f + g + h + i + j + k + l.x + l.y + m.x + m.y + m.z + n + o + p + q + r +
                       s.x + s.y + s.z + s.w;
}

__global__ void takes_nothing() {}

__device__ int written_by_kernel;
__global__ void writes_global() { written_by_kernel = 99; }

__global__ void takes_restricted(const int* __restrict__ in, int* __restrict__ out) {
    out[threadIdx.x] = in[threadIdx.x] * 2;
}

__global__ void takes_grid_constant(const __grid_constant__ bytes_of<200> value, int* out) {
    const unsigned char* at = value.bytes;
    out[threadIdx.x] = at[threadIdx.x];
}

// --- launches --------------------------------------------------------------------------------------------------------

__global__ void shape(int* out) {
    const int thread = threadIdx.x + blockDim.x * threadIdx.y;
    const int block = blockIdx.x + gridDim.x * blockIdx.y;
    out[block * blockDim.x * blockDim.y + thread] = block * 1000 + thread;
}

#define LAUNCH(kernel, ...) kernel<<<1, kThreads>>>(__VA_ARGS__)
#define GRID_AND_BLOCK 1, kThreads
#define CONFIGURED(kernel) kernel<<<GRID_AND_BLOCK>>>

template <class T>
void expect_all(device_array<T>& out, T expected, const char* what) {
    const std::vector<T> values = out.values();
    for (int i = 0; i < kThreads; ++i) {
        EXPECT(values[i] == expected, "%s: thread %d: %g, expected %g", what, i, double(values[i]), double(expected));
    }
    out.fill(T(-1));
}

void check_templates() {
    device_array<int> ints(kThreads);
    device_array<float> floats(kThreads);
    device_array<double> doubles(kThreads);
    device_array<short> shorts(kThreads);
    device_array<char> chars(kThreads);

    deduced<<<1, kThreads>>>(ints.data(), 5);
    deduced<<<1, kThreads>>>(floats.data(), 0.5f);
    deduced<double><<<1, kThreads>>>(doubles.data(), 3);
    const std::vector<int> int_values = ints.values();
    const std::vector<float> float_values = floats.values();
    const std::vector<double> double_values = doubles.values();
    for (int i = 0; i < kThreads; ++i) {
        EXPECT(int_values[i] == 5 + i && float_values[i] == 0.5f + i && double_values[i] == 3.0 + i, "thread %d", i);
    }
    not_deduced<3, true><<<1, kThreads>>>(ints.data());
    not_deduced<(4 > 3) ? 2 : 1, false, double><<<1, kThreads>>>(doubles.data());
    const std::vector<int> steps = ints.values();
    const std::vector<double> double_steps = doubles.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(steps[i] == -3 * i && double_steps[i] == 2.0 * i, "thread %d", i);

    with_operation<<<1, kThreads>>>(ints.data(), add_three{});
    with_operation<double, add_three, 3><<<1, kThreads>>>(doubles.data(), add_three());
    const std::vector<int> operated = ints.values();
    const std::vector<double> double_operated = doubles.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(operated[i] == i + 6 && double_operated[i] == i + 9.0, "thread %d", i);

    variadic<<<1, kThreads>>>(doubles.data());
    expect_all(doubles, 0.0, "no arguments in the pack");
    variadic<<<1, kThreads>>>(doubles.data(), 1, 2.5f, 'a', 7ll, 0.25, true);
    expect_all(doubles, 1 + 2.5 + 'a' + 7 + 0.25 + 1 + 6, "six arguments in the pack");
    of_template<<<1, kThreads>>>(holder_of<float>{2.5f}, floats.data());
    expect_all(floats, 2.5f, "a template of a template");
    instantiated<<<1, kThreads>>>(shorts.data());
    expect_all<short>(shorts, 2, "explicit instantiation");
    declared_first<<<1, kThreads>>>(chars.data());
    expect_all(chars, 'c', "specialization");
    declared_first<<<1, kThreads>>>(ints.data());
    expect_all(ints, 7, "declared before its definition");
}

void check_names() {
    device_array<int> out(kThreads);
    device_array<float> floats(kThreads);
    hidden<<<1, kThreads>>>(out.data());
    expect_all(out, 11, "anonymous namespace");
    outer::inner::internal<<<1, kThreads>>>(out.data());
    expect_all(out, 12, "static kernel");
    ::outer::inner::numbered<21><<<1, kThreads>>>(out.data());
    expect_all(out, 21, "from the global namespace");
    holds_kernel::launch<22>(out.data());
    expect_all(out, 22, "from a member template");
    with_c_name<<<1, kThreads>>>(out.data());
    expect_all(out, 13, "extern C");
    overloaded<<<1, kThreads>>>(out.data());
    expect_all(out, 14, "overload for int");
    overloaded<<<1, kThreads>>>(floats.data());
    expect_all(floats, 15.0f, "overload for float");
    attributes_in_another_order<<<1, kThreads>>>(out.data());
    expect_all(out, 16, "void __global__");
    with_bounds<<<1, kThreads>>>(out.data());
    expect_all(out, 17, "launch bounds");
    with_two_bounds<<<1, kThreads>>>(out.data());
    expect_all(out, 18, "launch bounds before void");
}

template <int Bytes>
void check_bytes(device_array<int>& out) {
    bytes_of<Bytes> value;
    int sum = 5 + 9;
    for (int i = 0; i < Bytes; ++i) {
        value.bytes[i] = static_cast<unsigned char>(i * 7 + 1);
        sum += value.bytes[i] * (i % 3 + 1);
    }
    takes_bytes<<<1, kThreads>>>(5, value, 9.5, out.data());
    expect_all(out, sum, "a struct by value");
}

void check_arguments() {
    device_array<int> out(kThreads);
    device_array<double> doubles(kThreads);
    check_bytes<1>(out);
    check_bytes<3>(out);
    check_bytes<5>(out);
    check_bytes<6>(out);
    check_bytes<7>(out);
    check_bytes<8>(out);
    check_bytes<11>(out);
    check_bytes<12>(out);
    check_bytes<13>(out);
    check_bytes<15>(out);
    check_bytes<16>(out);
    check_bytes<24>(out);
    check_bytes<200>(out);
    check_bytes<4000>(out);

    const mixed24 m = {1, 2.5, 3, 4.25f};
    const aligned16 a = {10, 20, 30, 40};
    takes_mixed<<<1, kThreads>>>(1, m, 2, a, 3, {0, 100.5, 0, 0}, doubles.data());
    expect_all(doubles, 1 + (1 + 2.5 + 3 + 4.25) + 2 + 100 + 3 + 100.5, "mixed structs");
    takes_twenty<<<1, kThreads>>>(1, 2, 3, 1ll << 40, 0.5f, 0.25, true, 200, 60000, 4000000000u, 1ull << 50,
                                  make_float2(1, 2), make_int3(3, 4, 5), doubles.data(), 'b', 1e-3, 7, 2.5f, -9,
                                  make_float4(1, 2, 3, 4));
    const double expected = 1.0 + 2 + 3 + double(1ll << 40) + 0.5 + 0.25 + 1 + 200 + 60000 + 4000000000.0 +
                            double(1ull << 50) + 3 + 12 + 'b' + 1e-3 + 7 + 2.5 - 9 + 10;
    const std::vector<double> sums = doubles.values();
    for (int i = 0; i < kThreads; ++i) {
        // The kernel adds the first members as integers and floats, which rounds otherwise.
        EXPECT(sums[i] > expected * (1 - 1e-6) && sums[i] < expected * (1 + 1e-6), "thread %d: %.17g, expected %.17g",
               i, sums[i], expected);
    }

    takes_nothing<<<1, kThreads>>>();
    writes_global<<<1, 1>>>();
    int written = 0;
    KERNEL_OK();
    CUDA_OK(cudaMemcpyFromSymbol(&written, written_by_kernel, sizeof(int)));
    EXPECT(written == 99, "%d", written);

    bytes_of<200> constant;
    for (int i = 0; i < 200; ++i) constant.bytes[i] = static_cast<unsigned char>(i + 50);
    takes_grid_constant<<<1, kThreads>>>(constant, out.data());
    const std::vector<int> bytes = out.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(bytes[i] == i + 50, "thread %d: %d", i, bytes[i]);
    device_array<int> doubled(kThreads);
    takes_restricted<<<1, kThreads>>>(out.data(), doubled.data());
    const std::vector<int> twice = doubled.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(twice[i] == 2 * (i + 50), "thread %d: %d", i, twice[i]);
}

// The kernel's arguments are copied at the launch: what changes later does not matter.
void check_copied_arguments() {
    device_array<int> out(kThreads);
    int value = 5;
    deduced<<<1, kThreads>>>(out.data(), value);
    value = 1000;
    const std::vector<int> values = out.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(values[i] == 5 + i, "thread %d: %d with %d", i, values[i], value);
}

using int_kernel = void (*)(int*);

int_kernel choose(bool first) { return first ? hidden : with_bounds; }

void check_launches() {
    device_array<int> out(kThreads);
    LAUNCH(hidden, out.data());
    expect_all(out, 11, "through a macro");
    CONFIGURED(with_c_name)(out.data());
    expect_all(out, 13, "configuration from a macro");

    // Function pointers.
    void (*pointer)(int*) = with_bounds;
    pointer<<<1, kThreads>>>(out.data());
    expect_all(out, 17, "pointer");
    pointer = &outer::inner::numbered<23>;
    (*pointer)<<<1, kThreads>>>(out.data());
    expect_all(out, 23, "pointer to a template, dereferenced");
    choose(true)<<<1, kThreads>>>(out.data());
    expect_all(out, 11, "pointer from a function");
    const int_kernel table[] = {hidden, with_c_name, outer::inner::internal};
    for (int i = 0; i < 3; ++i) {
        table[i]<<<1, kThreads>>>(out.data());
        expect_all(out, i == 0 ? 11 : i == 1 ? 13 : 12, "pointer from an array");
    }

    // Statements without braces, and a conditional expression.
    if (out.data() == nullptr)
        hidden<<<1, kThreads>>>(out.data());
    else
        with_bounds<<<1, kThreads>>>(out.data());
    expect_all(out, 17, "else without braces");
    for (int i = 0; i < 2; ++i) outer::inner::numbered<24><<<1, kThreads>>>(out.data());
    expect_all(out, 24, "loop without braces");
    const bool yes = out.data() != nullptr;
    yes ? hidden<<<1, kThreads>>>(out.data()) : with_c_name<<<1, kThreads>>>(out.data());
    expect_all(out, 11, "conditional expression");
    takes_nothing<<<1, 1>>>(), with_c_name<<<1, kThreads>>>(out.data());
    expect_all(out, 13, "comma expression");
    const auto in_lambda = [&](int threads) { with_two_bounds<<<(threads + 63) / 64, dim3(threads)>>>(out.data()); };
    in_lambda(kThreads);
    expect_all(out, 18, "in a lambda");

    // All four parts of a configuration, with braces, expressions and shifts in them.
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    device_array<int> shaped(6 * 32);
    const auto check_shape = [&](const char* what) {
        CUDA_OK(cudaStreamSynchronize(stream));
        const std::vector<int> values = shaped.values();
        for (int i = 0; i < 6 * 32; ++i) EXPECT(values[i] == i / 32 * 1000 + i % 32, "%s: %d: %d", what, i, values[i]);
        shaped.fill(-1);
    };
    shape<<<dim3(2, 3), dim3(8, 4), 100, stream>>>(shaped.data());
    check_shape("grid, block, memory and stream");
    shape<<<6, 1 << 5>>>(shaped.data());
    check_shape("a shift in the configuration");
    shape<<<dim3{2, 3, 1}, {8, 4}, 0>>>(shaped.data());
    check_shape("braces in the configuration");
    const dim3 grid(3, 2), block(32);
    shape<<<grid, block, sizeof(int) * (kThreads > 32 ? 32 : 1), (stream)>>>(shaped.data());
    check_shape("expressions in the configuration");
    // clang-format off
    shape <<< grid , block , 0 , cudaStreamPerThread >>> (shaped.data());
    // clang-format on
    check_shape("spaces in the configuration");

    // The functions under the brackets.
    int* pointer_argument = shaped.data();
    void* arguments[] = {&pointer_argument};
    CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(shape), dim3(2, 3), dim3(8, 4), arguments, 0, stream));
    check_shape("cudaLaunchKernel");
    CUDA_OK(cudaLaunchKernel(shape, grid, block, arguments, 16, stream));
    check_shape("cudaLaunchKernel of a typed kernel");
    CUDA_OK(cudaStreamDestroy(stream));

    int start = 40;
    int* out_argument = out.data();
    void* two_arguments[] = {&out_argument, &start};
    CUDA_OK(cudaLaunchKernel(reinterpret_cast<const void*>(&deduced<int>), 1, kThreads, two_arguments));
    const std::vector<int> values = out.values();
    for (int i = 0; i < kThreads; ++i) EXPECT(values[i] == 40 + i, "thread %d: %d", i, values[i]);
}

// --- lambdas ---------------------------------------------------------------------------------------------------------

template <class Function>
__global__ void calls(Function function, int* out) {
    out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

template <class Function>
__global__ void for_each(int elements, Function function) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) function(i);
}

template <class T>
void lambda_in_template(device_array<T>& out, T factor) {
    T* data = out.data();
    for_each<<<2, kThreads>>>(kThreads, [=] __device__(int i) { data[i] = factor * static_cast<T>(i); });
}

void check_lambdas() {
    device_array<int> out(kThreads);
    const auto check_values = [&](const char* what, int factor, int offset) {
        const std::vector<int> values = out.values();
        for (int i = 0; i < kThreads; ++i) EXPECT(values[i] == factor * i + offset, "%s: %d: %d", what, i, values[i]);
        out.fill(-1);
    };
    calls<<<1, kThreads>>>([] __device__(int i) { return 2 * i; }, out.data());
    check_values("no captures", 2, 0);
    int offset = 30;
    const auto with_captures = [offset, factor = 3] __device__(int i) { return factor * i + offset; };
    offset = 0;
    calls<<<1, kThreads>>>(with_captures, out.data());
    check_values("captures", 3, 30);
    auto on_both_sides = [=] __host__ __device__(int i) -> int { return i + 8; };
    calls<<<1, kThreads>>>(on_both_sides, out.data());
    check_values("host and device", 1, on_both_sides(0));
    int* const data = out.data();
    for_each<<<2, kThreads>>>(kThreads, [=] __device__(int i) {
        const auto nested = [&](int by) { return i * by; };
        data[i] = nested(4) + 1;
    });
    check_values("writes by itself", 4, 1);
    lambda_in_template(out, 6);
    check_values("in a template", 6, 0);
}

int main() {
    check_templates();
    check_names();
    check_arguments();
    check_copied_arguments();
    check_launches();
    check_lambdas();
    return verdict();
}
