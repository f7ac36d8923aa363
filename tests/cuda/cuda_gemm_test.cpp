// The multiplication's ladder and its verifier on a GPU.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "cuda/gpu_test.hpp"
#include "device/registry.hpp"
#include "lab/bench.hpp"
#include "ops/gemm/cuda_problem.hpp"
#include "random_products.hpp"
#include "work.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

std::string fault_of(const kernel& k, const gemm_shape& shape) {
    device::cuda_gemm problem(
        shape, tests::workspace(k, backend::cuda, shape.checked().work(nullptr, nullptr, nullptr, nullptr)), nullptr);
    problem.prepare();
    tests::run(k, backend::cuda, problem.work());
    ++launches[k.id];
    return problem.check().fault;
}

std::string name(const kernel& k, const gemm_shape& s) { return k.id + ", " + tests::describe(s); }

// cuBLAS among them, where it can be loaded.
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

// The verifier sees what is wrong, and says where.
TEST(cuda_gemm, the_verifier_sees_each_mistake) {
    const gemm_shape s{.m = 140, .n = 130, .k = 50, .ldc = 133, .c_offset = 2};
    const auto fault_with = [&](std::int64_t at, float value) {
        device::cuda_gemm problem(s, 0, nullptr);
        problem.prepare();
        tests::run(find_kernel("gemm/tiled"), backend::cuda, problem.work());
        CORNERTURN_CUDA(cudaMemcpy(problem.work().c + at, &value, sizeof value, cudaMemcpyHostToDevice));
        return problem.check().fault;
    };
    const auto contains = [](const std::string& fault, const char* wanted) {
        EXPECT_NE(fault.find(wanted), std::string::npos) << fault;
    };
    contains(fault_with(3 * 133 + 5, 1e9f), "C (row 3, column 5) holds");
    contains(fault_with(139 * 133 + 129, std::numeric_limits<float>::quiet_NaN()), "C (row 139, column 129) holds nan");
    contains(fault_with(130, 0), "the gap behind row 0 of C");
    contains(fault_with(139 * 133 + 130, 0), "behind the end of the C");
}

// Cells of one bencher, a large one first: each has memory of its own.
TEST(cuda_gemm_bench, verifies_and_times_both) {
    const operation& does = find_operation("gemm");
    const lab::bench_request what{.does = &does,
                                  .subject = &find_kernel("gemm/production"),
                                  .yardstick = &find_kernel("gemm/cublas"),
                                  .seconds = 0.01};
    const auto bencher = lab::cuda_bencher();
    for (const gemm_shape& shape :
         {gemm_shape{.m = 2000, .n = 1500, .k = 1000}, gemm_shape{.m = 300, .n = 200, .k = 100}}) {
        const lab::bench_result r = bencher->run({"", std::make_shared<product_work>(shape)}, what);
        ASSERT_EQ(r.skipped, "");
        for (const lab::bench_entry* e : r.entries()) {
            ASSERT_EQ(e->fault, "") << e->kernel;
            if (e->kernel == "gemm/cublas" && !e->skipped.empty()) continue;  // there is none
            ASSERT_EQ(e->skipped, "") << e->kernel;
            EXPECT_GE(e->time.samples, 20);
            EXPECT_GT(e->more.at("error").at("frobenius").get<double>(), 0);
        }
    }
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
