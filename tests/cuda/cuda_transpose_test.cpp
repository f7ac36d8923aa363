// cornerturn::cuda::transpose on a GPU.
#include <array>
#include <barrier>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "cornerturn/cuda/l2.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "cuda/gpu_test.hpp"
#include "cuda/late_copy.hpp"
#include "describe.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "device/cuda_problem.hpp"
#include "message.hpp"
#include "move/policy.hpp"
#include "random_gaps.hpp"
#include "strided_plans.hpp"

using namespace cornerturn;
using tests::device_array;
using tests::refused;
using tests::stream_owner;

namespace {

std::map<std::string, int> launches;  // by kernel: family, tile and unit

int architecture() {
    static const int value = [] {
        cudaDeviceProp properties;
        CORNERTURN_CUDA(cudaGetDeviceProperties(&properties, 0));
        return properties.major * 10 + properties.minor;
    }();
    return value;
}

void count(const matrix_work& w, const gpu& on) {
    moves::for_each_plan(canonical(w), on, [](const moves::plan& p) { ++launches[tests::name_of(p)]; });
}

void transpose_uncounted(const matrix_work& w, cudaStream_t stream) {
    cuda::transpose_plan({.rows = w.rows,
                          .cols = w.cols,
                          .source_ld = w.source_ld,
                          .destination_ld = w.destination_ld,
                          .element_size = w.element_size,
                          .count = w.count,
                          .source_stride = w.source_stride,
                          .destination_stride = w.destination_stride})(w.source, w.destination, stream);
}

void transpose(const matrix_work& w, cudaStream_t stream) {
    count(w, device::gpu_of(0));
    transpose_uncounted(w, stream);
}

// Uses the kernels for a GPU that nothing is tuned for.
void transpose_untuned(const matrix_work& w) {
    const gpu on = gpu_of_capability(75);
    count(w, on);
    moves::run_on_gpu(canonical(w), on);
}

void transpose_on_default_stream(const matrix_work& w) { transpose(w, nullptr); }

void transpose_with_ordinary_lines(const matrix_work& w) {
    ASSERT_EQ(cuda::set_l2_lines(cuda::l2_lines::ordinary), cuda::l2_lines::kept);
    transpose(w, nullptr);
    ASSERT_EQ(cuda::set_l2_lines(cuda::l2_lines::kept), cuda::l2_lines::ordinary);
}

void expect_right(const problem_shape& shape, void (*move)(const matrix_work&) = transpose_on_default_stream) {
    const auto problem =
        tests::made<device::cuda_problem>(tests::describe(shape), tests::bytes_of(shape), shape, nullptr);
    if (!problem) return;
    problem->prepare();
    ASSERT_NO_THROW(move(problem->work())) << tests::describe(shape);
    ASSERT_EQ(problem->check().fault, "") << tests::describe(shape);
}

constexpr int kSizes[] = {1, 2, 4, 8, 16};

TEST(cuda_transpose, edges_of_every_tile) {
    for (int size : kSizes) {
        for (std::int64_t rows : {1, 2, 8, 31, 33, 65, 127, 225, 257}) {
            for (std::int64_t cols : {1, 3, 7, 32, 63, 64, 129, 256, 260}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
            }
        }
    }
}

// Larger matrices get larger tiles. Some of these matrices have whole tiles only.
TEST(cuda_transpose, edges_of_wide_tiles) {
    for (auto [rows, cols, size] : {std::tuple<std::int64_t, std::int64_t, int>{4096, 4096, 1},
                                    {4112, 4224, 1},
                                    {4097, 4111, 1},
                                    {2051, 2054, 4},
                                    {1150, 1151, 16}}) {
        const auto aligned = [](std::int64_t extent) { return (extent + 31) / 32 * 32; };
        ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows,
                                              .cols = cols,
                                              .element_size = size,
                                              .source_ld = aligned(cols),
                                              .destination_ld = aligned(rows)}));
    }
}

TEST(cuda_transpose, large_tiles) {
    for (auto [rows, cols, size] : {std::tuple<std::int64_t, std::int64_t, int>{12288, 12288, 1},
                                    {12304, 12400, 1},
                                    {8192, 8192, 2},
                                    {8200, 8208, 2},
                                    {8192, 8192, 8},
                                    {8196, 8200, 8},
                                    {5824, 5808, 16},
                                    {5802, 5804, 16},
                                    // Results that stay in the L2: unaligned ones, and some with few rows.
                                    {2049, 2051, 8},
                                    {1449, 1451, 16},
                                    {5101, 5103, 1},
                                    {3601, 3603, 2},
                                    {3, 1500001, 8},
                                    {2, 1000003, 16},
                                    // Rows of 128 KiB.
                                    {2048, 131072, 1},
                                    {2064, 131072, 1},
                                    {2048, 16384, 8},
                                    {2052, 16384, 8},
                                    {2048, 8192, 16},
                                    {2050, 8192, 16}}) {
        ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
        ASSERT_NO_FATAL_FAILURE(
            expect_right({.rows = rows, .cols = cols, .element_size = size}, transpose_with_ordinary_lines));
    }
}

TEST(cuda_transpose, random_shapes_strides_offsets_and_sizes) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    constexpr int kAll[] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 24, 100, 130, 1000};
    // racecheck takes about a second for each round, so it gets fewer.
    const char* const fewer = std::getenv("CORNERTURN_RANDOM_ROUNDS");
    const int rounds = fewer == nullptr ? 600 : std::atoi(fewer);
    ASSERT_GT(rounds, 0);
    std::printf("seed %u, %d rounds\n", seed, rounds);
    for (int round = 0; round < rounds; ++round) {
        problem_shape s{.element_size = kAll[up_to(18)], .seed = seed};
        const auto extent = [&] { return up_to(4) == 0 ? up_to(100000) : up_to(1) == 0 ? up_to(1500) : up_to(70); };
        s.rows = extent();
        s.cols = extent();
        while (s.rows * s.cols * s.element_size > 1 << 24) (s.rows > s.cols ? s.rows : s.cols) /= 2;
        s.in_place = up_to(5) == 0;
        if (s.in_place) s.rows = s.cols = std::min<std::int64_t>({s.rows, s.cols, 700});
        if (up_to(2) == 0) s.count = 1 + up_to(300);
        if (s.rows * s.cols * s.element_size * s.count > 1 << 24) s.count = 1;
        tests::add_gaps(s, up_to, 17);
        ASSERT_NO_FATAL_FAILURE(expect_right(s));
        if (round % 4 == 0) {
            ASSERT_NO_FATAL_FAILURE(expect_right(s, transpose_untuned));
        }
        if (round % 4 == 2) {
            ASSERT_NO_FATAL_FAILURE(expect_right(s, transpose_with_ordinary_lines));
        }
    }
}

TEST(cuda_transpose, batches) {
    for (int size : {1, 2, 4, 8, 16, 3}) {
        for (auto [rows, cols] :
             {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {32, 32}, {33, 31}, {100, 100}, {128, 64}}) {
            ASSERT_NO_FATAL_FAILURE(
                expect_right({.rows = rows, .cols = cols, .element_size = size, .count = 200000 / (rows * cols) + 2}));
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 4, .cols = 4, .count = 0}));
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 17, .cols = 300, .element_size = 2, .count = 70001}));  // > 65535
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 50,
                                          .cols = 24,
                                          .source_ld = 1000,
                                          .destination_ld = 50,
                                          .count = 40,
                                          .source_stride = 25,
                                          .destination_stride = 1200}));
}

TEST(cuda_transpose, in_place) {
    for (int size : {1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 33, 130}) {
        for (std::int64_t n : {1, 2, 31, 64, 65, 128, 300, 1024}) {
            for (std::int64_t gap : {0, 1, 16}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = n,
                                                      .cols = n,
                                                      .element_size = size,
                                                      .source_ld = n + gap,
                                                      .destination_ld = n + gap,
                                                      .count = n < 100 ? 5 : 1,
                                                      .in_place = true}));
            }
        }
    }
}

// Real sizes: more than 2^31 elements, and more than 65,535 tiles on either axis. Racecheck would take hours: skip
// *large* under it.
TEST(cuda_transpose, large_more_than_2_to_the_31_elements) {
    for (int size : kSizes) {
        ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 46341, .cols = 46342, .element_size = size}));
        if (size > 4) continue;
        ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 65536, .cols = 32776, .element_size = size}));
        for (std::int64_t few : {1, 3, 40}) {
            const std::int64_t many = 2200000000 / few;
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = few, .cols = many, .element_size = size}));
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = many, .cols = few, .element_size = size}));
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 27000, .cols = 27001, .element_size = 3}));
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 3, .cols = 3, .element_size = 1, .count = 240000000}));
}

TEST(cuda_transpose, large_in_place) {
    for (int size : kSizes) {
        for (std::int64_t n : {46341, 46352, 10007, 10016})
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = n, .cols = n, .element_size = size, .in_place = true}));
    }
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 27001, .cols = 27001, .element_size = 3, .in_place = true}));
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 4001, .cols = 4001, .element_size = 129, .in_place = true}));
}

TEST(cuda_transpose, large_more_than_65535_tiles) {
    for (int size : kSizes) {
        for (std::int64_t few : {2, 5, 20, 70}) {
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = few, .cols = 17000003 / few * 4, .element_size = size}));
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 17000003 / few * 4, .cols = few, .element_size = size}));
        }
    }
}

struct colour {
    unsigned char r, g, b;
};

template <class T>
void moves_typed_elements(T (*value)(int)) {
    constexpr int kRows = 70, kCols = 45;
    std::vector<T> host(kRows * kCols), back(kRows * kCols);
    for (int i = 0; i < kRows * kCols; ++i) host[i] = value(i);
    device_array<T> source(host.size()), destination(host.size());
    const stream_owner stream;
    CORNERTURN_CUDA(cudaMemcpyAsync(source.data, host.data(), host.size() * sizeof(T), cudaMemcpyDefault, stream.get));
    cuda::transpose(matrix_view<const T>{source.data, kRows, kCols, kCols},
                    matrix_view<T>{destination.data, kCols, kRows, kRows}, stream.get);
    CORNERTURN_CUDA(
        cudaMemcpyAsync(back.data(), destination.data, host.size() * sizeof(T), cudaMemcpyDefault, stream.get));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
    for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < kCols; ++c)
            ASSERT_EQ(std::memcmp(&back[c * kRows + r], &host[r * kCols + c], sizeof(T)), 0);
    }
}

TEST(cuda_transpose, moves_bits_of_any_type) {
    moves_typed_elements<float>([](int i) {
        const unsigned bits = 0x7f800001u + static_cast<unsigned>(i);  // NaNs with a payload, signalling ones too
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    });
    moves_typed_elements<std::complex<double>>([](int i) { return std::complex<double>(i, -i); });
    moves_typed_elements<colour>([](int i) {
        return colour{static_cast<unsigned char>(i), static_cast<unsigned char>(i >> 8), 7};
    });
    moves_typed_elements<signed char>([](int i) { return static_cast<signed char>(i - 128); });
}

// A graph of everything that `work` puts on the stream.
struct captured {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    template <class F>
    captured(cudaStream_t stream, F work) {
        CORNERTURN_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        work();
        CORNERTURN_CUDA(cudaStreamEndCapture(stream, &graph));
        CORNERTURN_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    }
    ~captured() {
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }
    captured(const captured&) = delete;
    captured& operator=(const captured&) = delete;
};

TEST(cuda_transpose, is_captured_in_a_graph) {
    device::cuda_problem problem({.rows = 300, .cols = 500, .element_size = 1}, nullptr);
    problem.prepare();
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    const stream_owner stream;
    const captured graph(stream.get, [&] { transpose(problem.work(), stream.get); });
    for (int i = 0; i < 3; ++i) {
        problem.prepare_destination();
        CORNERTURN_CUDA(cudaDeviceSynchronize());
        CORNERTURN_CUDA(cudaGraphLaunch(graph.executable, stream.get));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
        EXPECT_EQ(problem.check().fault, "");
    }
}

// A problem whose source is written late. write() launches a kernel that lets the next kernel start before it writes.
// read() transposes what write() wrote.
struct late_source {
    explicit late_source(const problem_shape& shape) : problem(shape, stream.get), between(bytes()) {
        problem.prepare();
    }

    std::size_t bytes() const {
        const problem_shape s = problem.shape().checked();
        return static_cast<std::size_t>(s.count * s.rows * s.cols * s.element_size);
    }
    void poison() { CORNERTURN_CUDA(cudaMemsetAsync(between.data, 0xee, bytes(), stream.get)); }
    void write(std::size_t from, std::size_t to, cudaStream_t on) {
        tests::copy_late(static_cast<const unsigned char*>(problem.work().source) + from, between.data + from,
                         static_cast<std::int64_t>(to - from), on);
    }
    void read(cudaStream_t on) {
        matrix_work work = problem.work();
        work.source = between.data;
        transpose(work, on);
    }

    const stream_owner stream;
    device::cuda_problem problem;
    device_array<unsigned char> between;
};

TEST(cuda_transpose, waits_for_the_kernel_before_it) {
    using moves::kernel_family;
    // On Hopper: every kernel family that is launched early.
    const std::pair<problem_shape, kernel_family> cases[] = {
        {{.rows = 64, .cols = 64}, kernel_family::direct},
        {{.rows = 512, .cols = 256}, kernel_family::direct},
        {{.rows = 96, .cols = 96, .element_size = 16}, kernel_family::direct},
        {{.rows = 512, .cols = 512, .element_size = 1}, kernel_family::direct},
        {{.rows = 1104, .cols = 1104}, kernel_family::vector},
        {{.rows = 1040, .cols = 1040, .element_size = 1}, kernel_family::vector},
        {{.rows = 544, .cols = 544, .element_size = 16}, kernel_family::vector},
        {{.rows = 64, .cols = 64, .count = 100, .source_stride = 4096, .destination_stride = 4096},
         kernel_family::vector},
        {{.rows = 2048, .cols = 32768}, kernel_family::vector_apart}};
    for (const auto& [shape, by] : cases) {
        late_source late(shape);
        const auto enqueue = [&] {
            late.poison();
            late.write(0, late.bytes(), late.stream.get);
            late.read(late.stream.get);
        };
        enqueue();
        ASSERT_EQ(late.problem.check().fault, "") << tests::describe(shape);
        late.problem.prepare_destination();
        const captured graph(late.stream.get, enqueue);
        CORNERTURN_CUDA(cudaGraphLaunch(graph.executable, late.stream.get));
        ASSERT_EQ(late.problem.check().fault, "") << tests::describe(shape);
    }
}

TEST(cuda_transpose, waits_for_all_earlier_work) {
    late_source late({.rows = 512, .cols = 512});
    const std::size_t half = late.bytes() / 2;
    // Two branches of a capture, on two streams.
    const stream_owner other;
    cudaEvent_t fork = nullptr, join = nullptr;
    CORNERTURN_CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CORNERTURN_CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    const auto branches = [&] {
        late.poison();
        CORNERTURN_CUDA(cudaEventRecord(fork, late.stream.get));
        CORNERTURN_CUDA(cudaStreamWaitEvent(other.get, fork, 0));
        late.write(half, late.bytes(), other.get);
        CORNERTURN_CUDA(cudaEventRecord(join, other.get));
        late.write(0, half, late.stream.get);
        CORNERTURN_CUDA(cudaStreamWaitEvent(late.stream.get, join, 0));
        late.read(late.stream.get);
    };
    branches();
    EXPECT_EQ(late.problem.check().fault, "");
    late.problem.prepare_destination();
    const captured graph(late.stream.get, branches);
    CORNERTURN_CUDA(cudaGraphLaunch(graph.executable, late.stream.get));
    EXPECT_EQ(late.problem.check().fault, "");
    late.problem.prepare_destination();
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    // The default stream waits for all streams that are not created as non-blocking.
    late.poison();
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    cudaStream_t blocking = nullptr;
    CORNERTURN_CUDA(cudaStreamCreate(&blocking));
    late.write(0, late.bytes(), blocking);
    late.read(nullptr);
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(late.problem.check().fault, "");
    cudaStreamDestroy(blocking);
}

// The tests above prove nothing if no kernel starts early. None does before Hopper. Under compute-sanitizer none does
// either, so skip this test there.
TEST(cuda_transpose, kernel_launched_early_starts_early) {
    late_source late({.rows = 512, .cols = 512});
    device_array<unsigned char> seen(late.bytes());
    late.poison();
    late.write(0, late.bytes(), late.stream.get);
    tests::copy_early(late.between.data, seen.data, static_cast<std::int64_t>(late.bytes()), late.stream.get);
    std::array<unsigned char, 16> found, written, poison;
    poison.fill(0xee);
    CORNERTURN_CUDA(cudaMemcpyAsync(found.data(), seen.data, found.size(), cudaMemcpyDefault, late.stream.get));
    CORNERTURN_CUDA(cudaMemcpyAsync(written.data(), late.problem.work().source, written.size(), cudaMemcpyDefault,
                                    late.stream.get));
    CORNERTURN_CUDA(cudaStreamSynchronize(late.stream.get));
    EXPECT_EQ(found, architecture() >= 90 ? poison : written);
}

TEST(cuda_transpose, many_threads_and_streams_at_once) {
    constexpr int kThreads = 8, kEach = 20;
    std::vector<std::unique_ptr<device::cuda_problem>> problems;
    for (int i = 0; i < kThreads * kEach; ++i) {
        problems.push_back(std::make_unique<device::cuda_problem>(
            problem_shape{.rows = 100 + 77 * (i / kEach), .cols = 64 + 31 * (i % kEach), .element_size = kSizes[i % 5]},
            nullptr));
        problems.back()->prepare();
    }
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    const std::array<stream_owner, kThreads> streams;
    std::array<std::string, kThreads> faults;
    std::barrier begin(kThreads);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                begin.arrive_and_wait();
                try {
                    for (int i = t * kEach; i < (t + 1) * kEach; ++i)
                        transpose_uncounted(problems[i]->work(), streams[t].get);
                    CORNERTURN_CUDA(cudaStreamSynchronize(streams[t].get));
                } catch (const std::exception& error) {
                    faults[t] = error.what();
                }
            });
        }
    }
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
    for (const auto& problem : problems) EXPECT_EQ(problem->check().fault, "") << tests::describe(problem->shape());
}

TEST(cuda_transpose, plan_serves_many_calls) {
    const cuda::transpose_plan plan(
        {.rows = 33, .cols = 44, .source_ld = 44, .destination_ld = 33, .element_size = 4, .element_alignment = 4});
    const cuda::transpose_plan copy = plan;
    EXPECT_EQ(copy.layout(), plan.layout());
    EXPECT_EQ(copy.device(), 0);
    for (std::int64_t offset : {0, 1, 2, 3}) {
        device::cuda_problem problem(
            {.rows = 33, .cols = 44, .source_offset = offset, .destination_offset = 3 - offset}, nullptr);
        problem.prepare();
        copy(problem.work().source, problem.work().destination, nullptr);
        EXPECT_EQ(problem.check().fault, "");
    }
}

TEST(cuda_transpose, parts_of_one_larger_matrix) {
    // The left half goes to the right half of the same rows.
    constexpr std::int64_t kSide = 64;
    std::vector<int> host(kSide * 2 * kSide);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i);
    device_array<int> whole(host.size());
    CORNERTURN_CUDA(cudaMemcpy(whole.data, host.data(), host.size() * sizeof(int), cudaMemcpyDefault));
    cuda::transpose(matrix_view<const int>{whole.data, kSide, kSide, 2 * kSide},
                    matrix_view<int>{whole.data + kSide, kSide, kSide, 2 * kSide}, nullptr);
    std::vector<int> back(host.size());
    CORNERTURN_CUDA(cudaMemcpy(back.data(), whole.data, host.size() * sizeof(int), cudaMemcpyDefault));
    for (std::int64_t r = 0; r < kSide; ++r) {
        for (std::int64_t c = 0; c < kSide; ++c) {
            ASSERT_EQ(back[r * 2 * kSide + c], host[r * 2 * kSide + c]);
            ASSERT_EQ(back[c * 2 * kSide + kSide + r], host[r * 2 * kSide + c]);
        }
    }
}

TEST(cuda_transpose, refuses_unreachable_memory) {
    device_array<float> good(16);
    std::vector<float> on_host(16);
    const auto source = [](const float* data) { return matrix_view<const float>{data, 4, 4, 4}; };
    const auto destination = [](float* data) { return matrix_view<float>{data, 4, 4, 4}; };
    int reads_pageable = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, 0));
    if (reads_pageable == 0) {
        EXPECT_NAMES(refused([&] { cuda::transpose(source(on_host.data()), destination(good.data), nullptr); }),
                     "source.data", on_host.data());
        EXPECT_NAMES(refused([&] { cuda::transpose(source(good.data), destination(on_host.data()), nullptr); }),
                     "destination.data", on_host.data());
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the refused calls leave no error
    float* pinned = nullptr;
    CORNERTURN_CUDA(cudaMallocHost(&pinned, 16 * sizeof(float)));
    for (int i = 0; i < 16; ++i) pinned[i] = static_cast<float>(i);
    cuda::transpose(source(pinned), destination(good.data), nullptr);
    float back[16];
    CORNERTURN_CUDA(cudaMemcpy(back, good.data, sizeof back, cudaMemcpyDefault));
    EXPECT_EQ(back[1], 4.0f);
    cudaFreeHost(pinned);
}

TEST(cuda_transpose, earlier_cuda_error_stays_for_the_caller) {
    device::cuda_problem problem({.rows = 5, .cols = 6}, nullptr);
    problem.prepare();
    ASSERT_EQ(cudaSetDevice(1 << 20), cudaErrorInvalidDevice);  // an error that the caller has not read yet
    EXPECT_NO_THROW(transpose(problem.work(), nullptr));
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_EQ(problem.check().fault, "");
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
