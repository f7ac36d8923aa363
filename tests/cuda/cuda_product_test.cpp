// cornerturn::cuda::gemm on a GPU, and each of its tunings. Products of all layouts are right. Two runs return the same
// bits. Errors are at most 1.5 times those of cuBLAS. Infinities and NaN follow IEEE 754.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "cornerturn/cuda/gemm.hpp"
#include "cuda/gpu_test.hpp"
#include "device/cuda_device.hpp"
#include "device/registry.hpp"
#include "message.hpp"
#include "ops/gemm/cuda_problem.hpp"
#include "ops/gemm/kernels/policy.hpp"
#include "random_products.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using tests::for_each_way;

namespace {

std::map<std::string, int> launches;

std::string name(const gemm_shape& s) { return tests::describe(s); }

cuda::gemm_options options_of(const gemm_work& w) {
    const auto of = [](bool transposed) { return transposed ? cuda::op::transposed : cuda::op::none; };
    return {.a = of(w.a_transposed), .b = of(w.b_transposed)};
}

void call(const gemm_work& w, cudaStream_t stream = nullptr) {
    const matrix_view<const float> a{w.a, w.a_transposed ? w.k : w.m, w.a_transposed ? w.m : w.k, w.lda};
    const matrix_view<const float> b{w.b, w.b_transposed ? w.n : w.k, w.b_transposed ? w.k : w.n, w.ldb};
    cuda::gemm(w.alpha, a, b, w.beta, matrix_view<float>{w.c, w.m, w.n, w.ldc}, stream, options_of(w));
    ++launches["cornerturn::cuda::gemm"];
}

void expect_right(const gemm_shape& shape) {
    const auto problem = tests::made<device::cuda_gemm>(name(shape), tests::bytes_of(shape), shape, 0, nullptr);
    if (!problem) return;
    problem->prepare();
    call(problem->work());
    ASSERT_EQ(problem->check().fault, "") << name(problem->shape());
}

TEST(cuda_product, edges_of_every_tile) {
    for (std::int64_t m : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
        for (std::int64_t n : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
            for (std::int64_t k : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
                for_each_way({.m = m, .n = n, .k = k},
                             [](const gemm_shape& s) { ASSERT_NO_FATAL_FAILURE(expect_right(s)); });
            }
        }
    }
}

TEST(cuda_product, random_work) {
    tests::random_products random;
    for (int round = 0; round < tests::rounds(400); ++round)
        ASSERT_NO_FATAL_FAILURE(expect_right(random.next(1500, 1500, true)));
}

TEST(cuda_product, each_tuning) {
    tests::random_products random;
    int shared_bytes = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    for (const kernel& k : kernels()) {
        if (!k.id.starts_with("tuned_gemm@")) continue;
        if (tests::tuned_row(k).shared_bytes(true) > shared_bytes) {
            std::printf("%s was not run: its tiles do not fit this GPU\n", k.id.c_str());
            continue;
        }
        const int rounds = tests::rounds(60);
        for (int draws = 0; launches[k.id] < rounds && draws < 100 * rounds; ++draws) {
            const gemm_shape s = random.next(900, 900, true).checked();
            device::cuda_gemm problem(s, tests::workspace(k, backend::cuda, s.work(nullptr, nullptr, nullptr, nullptr)),
                                      nullptr);
            problem.prepare();
            try {
                tests::run(k, backend::cuda, problem.work());
            } catch (const unsupported&) {
                continue;  // the library packs operands of this layout before these tiles read them
            }
            ++launches[k.id];
            ASSERT_EQ(problem.check().fault, "") << k.id << ": " << name(s);
        }
        EXPECT_EQ(launches[k.id], rounds) << k.id;
    }
}

TEST(cuda_product, large_more_than_65535_tiles_on_an_axis_and_2_to_the_31_elements) {
    for (const gemm_shape& s : {gemm_shape{.m = 9000000, .n = 3, .k = 2},
                                {.m = 2, .n = 9000001, .k = 3},
                                {.m = 46341, .n = 46342, .k = 3},
                                {.m = 2, .n = 3, .k = 4000000},
                                {.m = 3, .n = 46341, .k = 46342, .b_transposed = true},
                                {.m = 46342, .n = 5, .k = 46341},
                                {.m = 46341, .n = 4, .k = 46344, .a_transposed = true}}) {
        ASSERT_NO_FATAL_FAILURE(expect_right(s));
    }
}

// A product with one 1 in each row of A copies rows of B, bit by bit.
TEST(cuda_product, identity_and_permutation_matrices_copy_rows) {
    for (std::int64_t n : {1, 5, 64, 130, 777, 2048}) {
        std::mt19937 random(static_cast<unsigned>(n));
        const auto size = static_cast<std::size_t>(n * n);
        std::vector<float> permutation(size, 0), values(size), found(size);
        std::vector<std::size_t> to(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = i;
        if (n % 2 == 1) std::shuffle(to.begin(), to.end(), random);  // else the identity
        for (std::size_t i = 0; i < to.size(); ++i) permutation[i * static_cast<std::size_t>(n) + to[i]] = 1;
        for (float& v : values)
            v = std::ldexp(static_cast<float>(random()) - 2e9f, static_cast<int>(random() % 60) - 30);
        tests::device_array<float> a(size), b(size), c(size);
        CORNERTURN_CUDA(cudaMemcpy(a.data, permutation.data(), size * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaMemcpy(b.data, values.data(), size * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaMemset(c.data, 0xff, size * 4));  // NaN, which is not read
        cuda::gemm(1, matrix_view<const float>{a.data, n, n, n}, matrix_view<const float>{b.data, n, n, n}, 0,
                   matrix_view<float>{c.data, n, n, n}, nullptr);
        CORNERTURN_CUDA(cudaMemcpy(found.data(), c.data, size * 4, cudaMemcpyDeviceToHost));
        for (std::size_t row = 0; row < to.size(); ++row) {
            ASSERT_EQ(std::memcmp(&found[row * to.size()], &values[to[row] * to.size()], to.size() * 4), 0) << n;
        }
    }
}

// C = alpha A B + beta C for an A of one row and a B of one column.
float product_of(const std::vector<float>& row, const std::vector<float>& col, float alpha, float beta, float before) {
    const auto k = static_cast<std::int64_t>(row.size());
    tests::device_array<float> a(row.size()), b(col.size()), c(1);
    CORNERTURN_CUDA(cudaMemcpy(a.data, row.data(), row.size() * 4, cudaMemcpyHostToDevice));
    CORNERTURN_CUDA(cudaMemcpy(b.data, col.data(), col.size() * 4, cudaMemcpyHostToDevice));
    CORNERTURN_CUDA(cudaMemcpy(c.data, &before, 4, cudaMemcpyHostToDevice));
    cuda::gemm(alpha, matrix_view<const float>{a.data, 1, k, k}, matrix_view<const float>{b.data, k, 1, 1}, beta,
               matrix_view<float>{c.data, 1, 1, 1}, nullptr);
    float found = 0;
    CORNERTURN_CUDA(cudaMemcpy(&found, c.data, 4, cudaMemcpyDeviceToHost));
    return found;
}

TEST(cuda_product, infinities_nan_zeros_and_subnormal_numbers) {
    constexpr float kTiny = 0x1p-140f;
    EXPECT_EQ(product_of({1, kInfinity}, {2, 3}, 1, 0, kNaN), kInfinity);
    EXPECT_TRUE(std::isnan(product_of({kInfinity, kInfinity}, {1, -1}, 1, 0, 0)));
    EXPECT_TRUE(std::isnan(product_of({kInfinity}, {0}, 1, 0, 0)));
    EXPECT_TRUE(std::isnan(product_of({1, kNaN}, {1, 1}, 1, 0, 0)));
    EXPECT_TRUE(std::isnan(product_of({1}, {1}, 1, 1, kNaN)));
    EXPECT_EQ(product_of({1}, {1}, 1, 0, kNaN), 1);
    EXPECT_EQ(product_of({kNaN}, {kInfinity}, 0, 2, 3), 6);  // A and B are not read
    EXPECT_EQ(product_of({kTiny}, {0.5f}, 1, 0, 0), kTiny / 2);
    EXPECT_EQ(product_of({0x1p-75f}, {0x1p-70f}, 1, 1, kTiny), kTiny + 0x1p-145f);
    EXPECT_EQ(product_of({0x1p100f, 0x1p100f}, {0x1p100f, 1}, 1, 0, 0), kInfinity);
    EXPECT_FALSE(std::signbit(product_of({-0.0f}, {1}, 1, 0, 0)));  // 0 + -0
    EXPECT_TRUE(std::signbit(product_of({}, {}, kNaN, 3, -0.0f)));  // beta C alone
    EXPECT_FALSE(std::signbit(product_of({}, {}, kNaN, 0, -0.0f)));
}

// In large products, too: only the sums that contain infinities or NaN are not finite, whatever the memory beside A and
// B holds.
TEST(cuda_product, infinities_and_nan_stay_in_their_sums) {
    for (const gemm_shape& of : {gemm_shape{.m = 300, .n = 500, .k = 200},
                                 {.m = 1024, .n = 1024, .k = 1024},
                                 {.m = 2049, .n = 2050, .k = 301},
                                 {.m = 64, .n = 64, .k = 3000}}) {
        gemm_shape shape = of;
        shape.values = gemm_values::special;
        for_each_way(shape, [](const gemm_shape& s) { ASSERT_NO_FATAL_FAILURE(expect_right(s)); });
    }
}

TEST(cuda_product, errors_are_close_to_those_of_cublas) {
    const kernel& cublas = find_kernel("gemm/cublas");
    try {
        device::cuda_gemm problem({.m = 1, .n = 1, .k = 1}, 0, nullptr);
        tests::run(cublas, backend::cuda, problem.work());
    } catch (const unsupported& why) {
        GTEST_SKIP() << why.what();
    }
    for (const gemm_shape& of : {gemm_shape{.m = 1024, .n = 1024, .k = 1024},
                                 {.m = 4096, .n = 4096, .k = 4096},
                                 {.m = 4095, .n = 4097, .k = 4099},
                                 {.m = 1000, .n = 1000, .k = 1000},
                                 {.m = 384, .n = 384, .k = 384},
                                 {.m = 512, .n = 512, .k = 512},
                                 {.m = 768, .n = 768, .k = 768},
                                 {.m = 1000, .n = 129, .k = 127},
                                 {.m = 127, .n = 1000, .k = 1000},
                                 {.m = 1000, .n = 999, .k = 3001},
                                 {.m = 128, .n = 256, .k = 20000},
                                 {.m = 64, .n = 64, .k = 65536},
                                 {.m = 8192, .n = 128, .k = 8192}}) {
        for (gemm_values values : tests::kValues) {
            gemm_shape shape = of;
            shape.values = values;
            for_each_way(shape, [&](const gemm_shape& s) {
                device::cuda_gemm problem(s, 0, nullptr);
                problem.prepare();
                gemm_errors ours, theirs;
                call(problem.work());
                ASSERT_EQ(problem.check(&ours).fault, "") << name(problem.shape());
                problem.prepare_c();
                tests::run(cublas, backend::cuda, problem.work());
                ASSERT_EQ(problem.check(&theirs).fault, "");
                EXPECT_LE(ours.largest, 1.5 * theirs.largest) << name(problem.shape());
                EXPECT_LE(ours.frobenius, 1.5 * theirs.frobenius) << name(problem.shape());
            });
        }
    }
}

std::vector<float> contents(const device::cuda_gemm& problem) {
    const gemm_work w = problem.work();
    std::vector<float> found(static_cast<std::size_t>((w.m - 1) * w.ldc + w.n));
    CORNERTURN_CUDA(cudaMemcpy(found.data(), w.c, found.size() * 4, cudaMemcpyDeviceToHost));
    return found;
}

TEST(cuda_product, two_runs_return_the_same_bits) {
    for (const gemm_shape& s : {gemm_shape{.m = 64, .n = 64, .k = 65536},
                                {.m = 1024, .n = 1024, .k = 1024},
                                {.m = 3000, .n = 1777, .k = 901, .beta = 2}}) {
        device::cuda_gemm problem(s, 0, nullptr);
        problem.prepare();
        call(problem.work());
        const std::vector<float> first = contents(problem);
        for (int run = 0; run < 5; ++run) {
            problem.prepare_c();
            call(problem.work());
            const std::vector<float> again = contents(problem);
            ASSERT_EQ(std::memcmp(first.data(), again.data(), first.size() * 4), 0) << name(s);
        }
    }
}

// Each product of a batch is right. The matrices may have gaps between them or interleave. One A or B can serve all.
TEST(cuda_product, batches) {
    struct batch {
        std::int64_t count, m, n, k, a_stride, b_stride, c_stride, ldc;
    };
    for (const batch& t : {batch{7, 33, 20, 50, 33 * 50, 50 * 20, 33 * 20, 20},
                           {5, 64, 64, 64, 0, 4096, 4096, 64},
                           {3, 17, 9, 5, 100, 0, 12, 40},
                           {0, 4, 4, 4, 16, 16, 16, 4},
                           {300, 128, 128, 64, 8192, 8192, 16384, 128},
                           {2, 1024, 1024, 512, 524288, 524288, 1048576, 1024},
                           {70000, 3, 2, 4, 12, 8, 6, 2}}) {
        const auto floats = [&](std::int64_t stride, std::int64_t last) {
            return static_cast<std::size_t>(std::max<std::int64_t>(t.count - 1, 0) * stride + last);
        };
        const std::size_t in_a = floats(t.a_stride, t.m * t.k), in_b = floats(t.b_stride, t.k * t.n);
        const std::size_t in_c = floats(t.c_stride, (t.m - 1) * t.ldc + t.n);
        std::mt19937 random(static_cast<unsigned>(t.count));
        const auto fill = [&](std::vector<float>& v) {
            for (float& x : v) x = static_cast<float>(static_cast<int>(random() % 17) - 8);
        };
        std::vector<float> a(in_a), b(in_b), c(in_c);
        fill(a), fill(b), fill(c);
        tests::device_array<float> at_a(in_a), at_b(in_b), at_c(in_c);
        CORNERTURN_CUDA(cudaMemcpy(at_a.data, a.data(), in_a * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaMemcpy(at_b.data, b.data(), in_b * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaMemcpy(at_c.data, c.data(), in_c * 4, cudaMemcpyHostToDevice));
        cuda::gemm(2, batch_view<const float>{at_a.data, t.m, t.k, t.k, t.count, t.a_stride},
                   batch_view<const float>{at_b.data, t.k, t.n, t.n, t.count, t.b_stride}, -1,
                   batch_view<float>{at_c.data, t.m, t.n, t.ldc, t.count, t.c_stride}, nullptr);
        std::vector<float> found(in_c), wanted = c;
        CORNERTURN_CUDA(cudaMemcpy(found.data(), at_c.data, in_c * 4, cudaMemcpyDeviceToHost));
        for (std::int64_t i = 0; i<t.count; i += t.count> 8 ? t.count / 8 : 1) {
            for (std::int64_t row = 0; row<t.m; row += t.m> 200 ? 37 : 1) {
                for (std::int64_t col = 0; col<t.n; col += t.n> 200 ? 41 : 1) {
                    float sum = 0;
                    for (std::int64_t l = 0; l < t.k; ++l)
                        sum += a[static_cast<std::size_t>(i * t.a_stride + row * t.k + l)] *
                               b[static_cast<std::size_t>(i * t.b_stride + l * t.n + col)];
                    const auto at = static_cast<std::size_t>(i * t.c_stride + row * t.ldc + col);
                    ASSERT_EQ(found[at], 2 * sum - c[at])
                        << t.count << " products, " << i << ": " << row << ", " << col;
                }
            }
        }
    }
}

// One A for a batch of transposed Bs. Both are packed into the workspace, A only once.
TEST(cuda_product, batches_that_are_packed) {
    const std::int64_t count = 3, m = 1022, n = 1030, k = 515;
    std::mt19937 random(1);
    const auto integers = [&](std::int64_t floats) {
        std::vector<float> values(static_cast<std::size_t>(floats));
        for (float& x : values) x = static_cast<float>(static_cast<int>(random() % 17) - 8);
        return values;
    };
    const std::vector<float> a = integers(m * k), b = integers(count * n * k);
    std::vector<float> found(static_cast<std::size_t>(count * m * n));
    tests::device_array<float> at_a(a.size()), at_b(b.size()), at_c(found.size());
    CORNERTURN_CUDA(cudaMemcpy(at_a.data, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
    CORNERTURN_CUDA(cudaMemcpy(at_b.data, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
    const batch_view<const float> of_a{at_a.data, m, k, k, count, 0}, of_b{at_b.data, n, k, k, count, n * k};
    const batch_view<float> of_c{at_c.data, m, n, n, count, m * n};
    const cuda::gemm_options options{.b = cuda::op::transposed};
    EXPECT_LT(cuda::gemm_workspace_bytes(of_a, of_b, of_c, options), 4 * 2 * (m * k + count * n * k) + (256 << 20));
    cuda::gemm(1, of_a, of_b, 0, of_c, nullptr, options);
    CORNERTURN_CUDA(cudaMemcpy(found.data(), at_c.data, found.size() * 4, cudaMemcpyDeviceToHost));
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t row = 0; row < m; row += 73) {
            for (std::int64_t col = 0; col < n; col += 67) {
                float sum = 0;
                for (std::int64_t l = 0; l < k; ++l)
                    sum +=
                        a[static_cast<std::size_t>(row * k + l)] * b[static_cast<std::size_t>((i * n + col) * k + l)];
                ASSERT_EQ(found[static_cast<std::size_t>((i * m + row) * n + col)], sum)
                    << i << ": " << row << ", " << col;
            }
        }
    }
}

// If k or alpha is 0, A and B may be null.
TEST(cuda_product, without_a_and_b) {
    tests::device_array<float> c(6);
    const std::vector<float> before = {1, 2, 3, 4, 5, 6};
    for (std::int64_t k : {0, 5}) {
        CORNERTURN_CUDA(cudaMemcpy(c.data, before.data(), 24, cudaMemcpyHostToDevice));
        cuda::gemm(k == 0 ? 1.0f : 0.0f, matrix_view<const float>{nullptr, 2, k, k},
                   matrix_view<const float>{nullptr, k, 3, 3}, 2, matrix_view<float>{c.data, 2, 3, 3}, nullptr);
        std::vector<float> found(6);
        CORNERTURN_CUDA(cudaMemcpy(found.data(), c.data, 24, cudaMemcpyDeviceToHost));
        EXPECT_EQ(found, (std::vector<float>{2, 4, 6, 8, 10, 12})) << k;
    }
}

TEST(cuda_product, workspace_of_the_caller) {
    const gemm_shape s{.m = 64, .n = 100, .k = 30000};  // computed in parts
    device::cuda_gemm problem(s, 0, nullptr);
    problem.prepare();
    const gemm_work w = problem.work();
    const matrix_view<const float> a{w.a, w.m, w.k, w.lda}, b{w.b, w.k, w.n, w.ldb};
    const matrix_view<float> c{w.c, w.m, w.n, w.ldc};
    const std::int64_t bytes = cuda::gemm_workspace_bytes(a, b, c);
    ASSERT_GT(bytes, 0);
    tests::device_array<unsigned char> space(static_cast<std::size_t>(bytes) + 64);
    CORNERTURN_CUDA(cudaMemset(space.data + bytes, 0x5a, 64));
    cuda::gemm(1, a, b, 0, c, nullptr, {.workspace = space.data, .workspace_bytes = bytes});
    EXPECT_EQ(problem.check().fault, "");
    unsigned char behind[64];
    CORNERTURN_CUDA(cudaMemcpy(behind, space.data + bytes, 64, cudaMemcpyDeviceToHost));
    for (unsigned char byte : behind) ASSERT_EQ(byte, 0x5a);
    const auto refusal = [&](void* workspace, std::int64_t size) {
        return tests::refused(
            [&] { cuda::gemm(1, a, b, 0, c, nullptr, {.workspace = workspace, .workspace_bytes = size}); });
    };
    void* const unaligned = space.data + 4;
    EXPECT_NAMES(refusal(space.data, 16), "options.workspace_bytes", 16, "gemm_workspace_bytes");
    EXPECT_NAMES(refusal(unaligned, bytes), "options.workspace", unaligned, 16);
    EXPECT_NAMES(refusal(nullptr, 5), "options.workspace_bytes", 5);
}

TEST(cuda_product, streams_and_graphs) {
    const gemm_shape s{.m = 200, .n = 1001, .k = 5000};  // packed, and computed in parts
    device::cuda_gemm problem(s, 0, nullptr);
    problem.prepare();
    const tests::stream_owner stream;
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    CORNERTURN_CUDA(cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeThreadLocal));
    call(problem.work(), stream.get);
    cudaGraph_t graph = nullptr;
    CORNERTURN_CUDA(cudaStreamEndCapture(stream.get, &graph));
    cudaGraphExec_t run = nullptr;
    CORNERTURN_CUDA(cudaGraphInstantiate(&run, graph, 0));
    for (int time = 0; time < 3; ++time) {
        problem.prepare_c();
        CORNERTURN_CUDA(cudaDeviceSynchronize());
        CORNERTURN_CUDA(cudaGraphLaunch(run, stream.get));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
        ASSERT_EQ(problem.check().fault, "");
    }
    CORNERTURN_CUDA(cudaGraphExecDestroy(run));
    CORNERTURN_CUDA(cudaGraphDestroy(graph));
}

TEST(cuda_product, many_threads) {
    std::vector<std::thread> threads;
    std::vector<std::string> faults(8);
    for (std::size_t i = 0; i < faults.size(); ++i) {
        threads.emplace_back([&, i] {
            const tests::stream_owner stream;
            const gemm_shape s{.m = 300 + static_cast<std::int64_t>(i), .n = 333, .k = 1200, .seed = i + 1};
            device::cuda_gemm problem(s, 0, stream.get);
            for (int round = 0; round < 20 && faults[i].empty(); ++round) {
                problem.prepare();
                const gemm_work w = problem.work();
                cuda::gemm(w.alpha, matrix_view<const float>{w.a, w.m, w.k, w.lda},
                           matrix_view<const float>{w.b, w.k, w.n, w.ldb}, w.beta,
                           matrix_view<float>{w.c, w.m, w.n, w.ldc}, stream.get);
                faults[i] = problem.check().fault;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

// Host memory. Some GPUs can read all of it.
TEST(cuda_product, unreachable_memory) {
    std::vector<float> host(64);
    tests::device_array<float> c(64);
    int reads_pageable = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, 0));
    const matrix_view<const float> a{host.data(), 8, 8, 8};
    const std::string why = tests::refused([&] {
        cuda::gemm(1, a, a, 0, matrix_view<float>{c.data, 8, 8, 8}, nullptr);
    });
    if (reads_pageable == 0) {
        EXPECT_NAMES(why, "a.data", host.data());
    } else {
        EXPECT_EQ(why, "was not refused");
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(cuda_product, explanation_names_the_kernel) {
    const matrix_view<const float> a{nullptr, 8192, 8192, 8192};
    const gemm_work work =
        gemm_shape{.m = 8192, .n = 8192, .k = 8192}.checked().work(nullptr, nullptr, nullptr, nullptr);
    const products::gemm_kernel& row = products::choose(work, device::gpu_of(device::current_device()), false).row();
    EXPECT_NAMES(cuda::explain_gemm(a, a, matrix_view<float>{nullptr, 8192, 8192, 8192}), row.name, row.rows, row.cols);
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
