// The multiplication's ladder and its verifier on a GPU.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "cuda/gpu_test.hpp"
#include "device/registry.hpp"
#include "lab/bench.hpp"
#include "message.hpp"
#include "ops/gemm/cuda_problem.hpp"
#include "random_products.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

std::string name(const kernel& k, const gemm_shape& s) { return k.id + ", " + tests::describe(s); }

std::string fault_of(const kernel& k, const gemm_shape& shape) {
    const auto problem = tests::made<device::cuda_gemm>(
        name(k, shape), tests::bytes_of(shape), shape,
        tests::workspace(k, backend::cuda, shape.checked().work(nullptr, nullptr, nullptr, nullptr)), nullptr);
    if (!problem) return {};
    problem->prepare();
    tests::run(k, backend::cuda, problem->work());
    ++launches[k.id];
    return problem->check().fault;
}

// With cuBLAS, if it can be loaded.
template <class F>
void for_each_kernel(F f) {
    int kernels_run = 0;
    for (const kernel& k : kernels()) {
        if (!k.id.starts_with("gemm/")) continue;
        ASSERT_TRUE(k.is_built_for(backend::cuda)) << k.id;
        try {
            f(k);
            ++kernels_run;
        } catch (const unsupported& why) {
            std::printf("%s was not run: %s\n", k.id.c_str(), why.what());
        }
    }
    EXPECT_GE(kernels_run, 7);
}

TEST(cuda_gemm, edges_of_every_tile) {
    for_each_kernel([](const kernel& k) {
        for (std::int64_t m : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
            for (std::int64_t n : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
                for (std::int64_t depth : {0, 1, 2, 3, 31, 33, 127, 129, 1000}) {
                    const gemm_shape s{.m = m, .n = n, .k = depth};
                    ASSERT_EQ(fault_of(k, s), "") << name(k, s);
                }
            }
        }
    });
}

TEST(cuda_gemm, random_sizes_leading_dimensions_offsets_and_factors) {
    tests::random_products random;
    for_each_kernel([&](const kernel& k) {
        for (int round = 0; round < tests::rounds(60); ++round) {
            const gemm_shape s = random.next(600, 600, false);
            ASSERT_EQ(fault_of(k, s), "") << name(k, s);
        }
    });
}

TEST(cuda_gemm, integers_are_exact) {
    for_each_kernel([](const kernel& k) {
        for (float beta : {0.0f, 1.0f, -3.0f}) {
            const gemm_shape s{
                .m = 1029, .n = 1031, .k = 2057, .alpha = 2, .beta = beta, .values = gemm_values::integers};
            ASSERT_EQ(fault_of(k, s), "") << name(k, s);
        }
    });
}

TEST(cuda_gemm, large_more_than_65535_tiles_down_and_2_to_the_31_elements) {
    for_each_kernel([](const kernel& k) {
        for (const gemm_shape& s : {gemm_shape{.m = 9000000, .n = 3, .k = 2}, {.m = 46341, .n = 46342, .k = 3}}) {
            ASSERT_EQ(fault_of(k, s), "") << name(k, s);
        }
    });
}

// The third number of the fault, after row and column.
std::int64_t wrong_product(const std::string& fault) {
    constexpr const char* kDigits = "0123456789";
    std::size_t at = fault.find_first_of(kDigits);
    for (int number = 0; number < 2 && at != fault.npos; ++number)
        at = fault.find_first_of(kDigits, fault.find_first_not_of(kDigits, at));
    return at == fault.npos ? -1 : std::stoll(fault.substr(at));
}

// The verifier finds each mistake and its place.
TEST(cuda_gemm, the_verifier_finds_each_mistake) {
    const gemm_shape s{.m = 140, .n = 130, .k = 50, .ldc = 133, .c_offset = 2};
    const auto fault_with = [&](std::int64_t at, float value) {
        device::cuda_gemm problem(s, 0, nullptr);
        problem.prepare();
        tests::run(find_kernel("gemm/tiled"), backend::cuda, problem.work());
        CORNERTURN_CUDA(cudaMemcpy(problem.work().c + at, &value, sizeof value, cudaMemcpyHostToDevice));
        return problem.check().fault;
    };
    EXPECT_NAMES(fault_with(3 * 133 + 5, 1e9f), "C", 3, 5);
    EXPECT_NAMES(fault_with(139 * 133 + 129, std::numeric_limits<float>::quiet_NaN()), "C", 139, 129, "nan");
    EXPECT_NAMES(fault_with(2 * 133 + 130, 0), 2, "C");    // the gap after row 2
    EXPECT_NAMES(fault_with(139 * 133 + 130, 0), 1, "C");  // guard byte 1 after the end
}

// The library and cuBLAS on batches, with matrices side by side and with shared operands.
TEST(cuda_gemm, batches) {
    for (const char* id : {"gemm/production", "gemm/production@plain", "gemm/cublas"}) {
        const kernel& k = find_kernel(id);
        for (gemm_values values : {gemm_values::symmetric, gemm_values::integers}) {
            for (gemm_shape s : {gemm_shape{.m = 70, .n = 50, .k = 33, .count = 5},
                                 {.m = 1, .n = 3, .k = 5, .count = 1000},
                                 {.m = 64, .n = 64, .k = 64, .beta = 2, .count = 100, .c_stride = 64 * 64 + 20},
                                 {.m = 70, .n = 50, .k = 33, .ldc = 400, .count = 7, .c_stride = 53},
                                 {.m = 130, .n = 40, .k = 20, .count = 3, .a_shared = true},
                                 {.m = 40, .n = 130, .k = 20, .lda = 21, .count = 3, .b_shared = true}}) {
                s.values = values;
                tests::for_each_way(s, [&](gemm_shape way) {
                    if (way.a_transposed) way.lda = 0;
                    try {
                        ASSERT_EQ(fault_of(k, way), "") << name(k, way);
                    } catch (const unsupported& why) {
                        std::printf("%s was not run: %s\n", id, why.what());
                    }
                });
            }
        }
    }
}

TEST(cuda_gemm, the_verifier_finds_each_mistake_in_a_batch) {
    const auto fault_with = [](const gemm_shape& s, std::int64_t at, float value) {
        device::cuda_gemm problem(s, 0, nullptr);
        problem.prepare();
        tests::run(find_kernel("gemm/production@plain"), backend::cuda, problem.work());
        EXPECT_EQ(problem.check().fault, "") << tests::describe(s);
        CORNERTURN_CUDA(cudaMemcpy(problem.work().c + at, &value, sizeof value, cudaMemcpyHostToDevice));
        return problem.check().fault;
    };
    const gemm_shape behind{
        .m = 140, .n = 130, .k = 50, .ldc = 133, .c_offset = 2, .count = 3, .c_stride = 140 * 133 + 10};
    EXPECT_NAMES(fault_with(behind, 2 * behind.c_stride + 3 * 133 + 5, 1e9f), "C", 3, 5, 2);
    EXPECT_NAMES(fault_with(behind, behind.c_stride + 130, 0), 0, "C", 1);               // the gap after row 0
    EXPECT_NAMES(fault_with(behind, behind.c_stride - 1, 0), 139, "C", 0);               // the gap after row 139
    EXPECT_NAMES(fault_with(behind, 2 * behind.c_stride + 139 * 133 + 130, 0), 1, "C");  // guard byte 1 after the end
    const gemm_shape beside{.m = 20, .n = 10, .k = 5, .ldc = 50, .count = 4, .c_stride = 12};
    EXPECT_NAMES(fault_with(beside, 50 + 12 + 9, 1e9f), "C", 1, 9, 1);
    EXPECT_NAMES(fault_with(beside, 50 + 12 + 11, 0), 1, "C", 1);
    // One product in place of another, and one that is left out.
    const gemm_shape packed{.m = 16, .n = 16, .k = 16, .count = 50};
    device::cuda_gemm problem(packed, 0, nullptr);
    problem.prepare();
    gemm_work work = problem.work();
    work.a_stride = 0;
    tests::run(find_kernel("gemm/production@plain"), backend::cuda, work);
    EXPECT_EQ(wrong_product(problem.check().fault), 1);
    problem.prepare();
    work = problem.work();
    --work.count;
    tests::run(find_kernel("gemm/production@plain"), backend::cuda, work);
    EXPECT_NAMES(problem.check().fault, "C", 0, 0, 49, "nan");
}

// Ways of calling, of a batch and of an odd product, verified and timed.
TEST(cuda_gemm_bench, verifies_and_times_ways_of_calling) {
    const operation& op = find_operation("gemm");
    lab::bench_request request{.op = &op,
                               .subject = &find_kernel("gemm/production"),
                               .yardstick = &find_kernel("gemm/cublas"),
                               .seconds = 0.01,
                               .rounds = 5,
                               .random_cells = 1};
    for (const bench_way& way : op.bench_ways(backend::cuda))
        request.ways.push_back({way.name, &find_kernel(way.subject), &find_kernel(way.yardstick), way.in_a_row});
    const auto bencher = lab::cuda_bencher();
    for (const gemm_shape& shape : {gemm_shape{.m = 2001, .n = 1500, .k = 1000, .a_transposed = true},
                                    gemm_shape{.m = 60, .n = 50, .k = 40, .count = 300}}) {
        const lab::bench_result r = bencher->run({"", std::make_shared<product_work>(shape)}, request);
        ASSERT_EQ(r.skipped, "");
        EXPECT_NE(r.choice, "");
        ASSERT_EQ(r.ways.size(), 2u);
        EXPECT_NAMES(r.ways[1].method, 20);
        EXPECT_FALSE(tests::names(r.ways[0].method, 20));
        EXPECT_NE(r.ways[0].method, r.method);
        for (const lab::bench_entry* e : r.every_entry()) {
            ASSERT_EQ(e->fault, "") << e->kernel;
            if (e->kernel == "gemm/cublas" && !e->skipped.empty()) continue;  // it cannot be loaded
            ASSERT_EQ(e->skipped, "") << e->kernel;
            EXPECT_GE(e->time.samples, 1);
            EXPECT_GT(e->time.median_s, 0);
        }
    }
}

// Cells of one bencher, a large one first. Each gets its own memory.
TEST(cuda_gemm_bench, verifies_and_times_both) {
    const operation& op = find_operation("gemm");
    const lab::bench_request request{.op = &op,
                                     .subject = &find_kernel("gemm/production"),
                                     .yardstick = &find_kernel("gemm/cublas"),
                                     .seconds = 0.01};
    const auto bencher = lab::cuda_bencher();
    for (const gemm_shape& shape :
         {gemm_shape{.m = 2000, .n = 1500, .k = 1000}, gemm_shape{.m = 300, .n = 200, .k = 100}}) {
        const lab::bench_result r = bencher->run({"", std::make_shared<product_work>(shape)}, request);
        ASSERT_EQ(r.skipped, "");
        for (const lab::bench_entry* e : r.entries()) {
            ASSERT_EQ(e->fault, "") << e->kernel;
            if (e->kernel == "gemm/cublas" && !e->skipped.empty()) continue;  // it cannot be loaded
            ASSERT_EQ(e->skipped, "") << e->kernel;
            EXPECT_GE(e->time.samples, 20);
            EXPECT_GT(e->more.at("error").at("frobenius").get<double>(), 0);
        }
    }
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
