// The ladder and the verifier on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

#include "batch_shapes.hpp"
#include "cornerturn/error.hpp"
#include "cuda/gpu_test.hpp"
#include "describe.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_problem.hpp"
#include "lab/bench.hpp"
#include "lab/run.hpp"
#include "ladder_check.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using tests::in_ladder;

namespace {

std::map<std::string, int> launches;

// The verifier's fault; empty if all is right.
std::string run(const kernel& k, problem_shape shape) {
    shape.arranged = arranged_by(k);
    const auto problem =
        tests::made<device::cuda_problem>(k.id + ", " + tests::describe(shape), tests::bytes_of(shape), shape, nullptr);
    if (!problem) return {};
    problem->prepare();
    tests::run(k, backend::cuda, problem->work());
    ++launches[k.id];
    return problem->check().fault;
}

template <class F>
void for_each_rung(F f) {
    for (const kernel& k : kernels()) {
        if (!in_ladder(k)) continue;
        ASSERT_TRUE(k.is_built_for(backend::cuda)) << k.id;
        for (int size : {1, 2, 4, 8, 16}) {
            if (k.takes(size)) f(k, size);
        }
    }
}

TEST(cuda_ladder, edges_leading_dimensions_and_offsets) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for_each_rung([&](const kernel& k, int size) {
        for (std::int64_t rows : {0, 1, 7, 32, 33, 67}) {
            for (std::int64_t cols : {0, 1, 5, 31, 64, 70}) {
                problem_shape shape{
                    .arranged = arranged_by(k), .rows = rows, .cols = cols, .element_size = size, .seed = seed};
                shape.source_ld = shape.cols + up_to(9);
                shape.destination_ld = shape.destination_cols() + up_to(9);
                shape.source_offset = up_to(5);
                shape.destination_offset = up_to(5);
                ASSERT_EQ(run(k, shape), "")
                    << k.id << " " << rows << " x " << cols << " of " << size << ", seed " << seed;
            }
        }
    });
}

TEST(cuda_ladder, more_than_65535_tiles_and_more_than_2_to_the_31_elements) {
    for_each_rung([&](const kernel& k, int size) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{2200000, 3}, {3, 2200000}}) {
            ASSERT_EQ(run(k, {.rows = rows, .cols = cols, .element_size = size}), "")
                << k.id << " " << rows << " x " << cols << " of " << size;
        }
        if (size <= 4) {
            ASSERT_EQ(run(k, {.rows = 50021, .cols = 43003, .element_size = size}), "") << k.id << " of " << size;
        }
    });
}

TEST(cuda_verifier, finds_planted_faults) {
    for (const char* fault :
         {"wrong_index", "unwritten_tail", "swapped_rows", "stale_output", "nan", "writes_source"}) {
        const kernel& k = find_kernel(std::string("fault/planted@") + fault);
        EXPECT_NE(run(k, {.rows = 64, .cols = 96}), "") << fault;
    }
    const kernel& past = find_kernel("fault/planted@past_the_end");
    const std::string after_the_end = run(past, {.rows = 70, .cols = 90});
    EXPECT_NAMES(after_the_end, "destination");
    EXPECT_TRUE(tests::hex_numbers(after_the_end).empty()) << after_the_end;  // it shows no element
    EXPECT_EQ(run(find_kernel("transpose/padded@32x8"), {.rows = 64, .cols = 96}), "");
}

// Compares with the host's verifier. The same shape, transposed on the host, must be right here byte for byte, and a
// change of any byte must be found.
TEST(cuda_verifier, agrees_with_the_hosts) {
    for (int size : {1, 2, 3, 4, 5, 8, 12, 16, 100, kMostElementBytes}) {
        for (const problem_shape& shape : tests::batch_shapes(size)) {
            host_problem host(shape);
            device::cuda_problem problem(shape, nullptr);
            host.prepare();
            problem.prepare();
            const patterned_batch matrices = problem.shape().after(side::destination);
            unsigned char* const begin =
                static_cast<unsigned char*>(problem.work().destination) - matrices.offset * size;
            const auto bytes = static_cast<std::size_t>(matrices.bytes());
            std::vector<unsigned char> prepared(bytes);
            CORNERTURN_CUDA(cudaMemcpy(prepared.data(), begin, bytes, cudaMemcpyDefault));
            EXPECT_TRUE(std::equal(prepared.begin(), prepared.end(), host.destination().data())) << tests::name(shape);
            EXPECT_EQ(problem.check().fault, host.check().fault) << tests::name(shape);

            tests::run(find_kernel("host/reference"), backend::host, host.work());
            CORNERTURN_CUDA(cudaMemcpy(begin, host.destination().data(), bytes, cudaMemcpyDefault));
            EXPECT_EQ(problem.check().fault, "") << tests::name(shape);
            for (std::size_t i = 0; i < bytes; i += 1 + bytes / 100) {
                unsigned char& byte = host.destination().data()[i];
                byte ^= 0x10;
                CORNERTURN_CUDA(cudaMemcpy(begin + i, &byte, 1, cudaMemcpyDefault));
                if (i < static_cast<std::size_t>(matrices.offset * size)) {
                    EXPECT_NE(problem.check().fault, "") << "byte " << i << " of " << tests::name(shape);
                } else {
                    EXPECT_EQ(problem.check().fault, host.check().fault)
                        << "byte " << i << " of " << tests::name(shape);
                }
                byte ^= 0x10;
                CORNERTURN_CUDA(cudaMemcpy(begin + i, &byte, 1, cudaMemcpyDefault));
            }
        }
    }
}

TEST(cuda_verifier, batches_of_more_than_2_to_the_31_elements) {
    const problem_shape shape{.arranged = copied, .rows = 40000, .cols = 40000, .element_size = 1, .count = 2};
    const auto problem =
        tests::made<device::cuda_problem>(tests::describe(shape), tests::bytes_of(shape), shape, nullptr);
    if (!problem) return;
    problem->prepare();
    const matrix_work work = problem->work();
    const auto bytes = static_cast<std::size_t>(shape.elements());
    CORNERTURN_CUDA(cudaMemcpy(work.destination, work.source, bytes - 1, cudaMemcpyDefault));
    EXPECT_NAMES(problem->check().fault, 39999, 39999, 1);
    CORNERTURN_CUDA(cudaMemcpy(work.destination, work.source, bytes, cudaMemcpyDefault));
    EXPECT_EQ(problem->check().fault, "");
}

TEST(cuda_lab, times_and_counts) {
    const kernel& padded = find_kernel("transpose/padded@32x8");
    const lab::result r = lab::cuda_runner()->run(padded, tests::request_of(padded, {.rows = 2048, .cols = 2048}));
    ASSERT_EQ(r.verified, lab::verification::passed) << r.fault;
    ASSERT_TRUE(r.time.has_value());
    EXPECT_GE(r.time->kernel.samples, 20);
    EXPECT_GT(r.time->kernel.median_s, 0);
    EXPECT_LE(r.time->kernel.p10_s, r.time->kernel.median_s);
    EXPECT_LE(r.time->kernel.median_s, r.time->kernel.p90_s);
    ASSERT_TRUE(r.counts.has_value());
    EXPECT_EQ(r.counts->global_requests[emulator::kLoad], 2048u * 2048 / 32);
}

TEST(cuda_lab, empty_matrices) {
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {5, 0}, {0, 0}}) {
        const kernel& padded = find_kernel("transpose/padded@32x8");
        const lab::result r = lab::cuda_runner()->run(padded, tests::request_of(padded, {.rows = rows, .cols = cols}));
        EXPECT_EQ(r.verified, lab::verification::passed) << r.fault;
    }
}

TEST(cuda_lab, refuses_matrices_that_do_not_fit) {
    const kernel& padded = find_kernel("transpose/padded@32x8");
    const lab::run_request huge = tests::request_of(padded, {.rows = 1000000, .cols = 1000000});
    EXPECT_THROW(lab::cuda_runner()->run(padded, huge), error);
}

lab::bench_result bench(const char* subject, const problem_shape& shape) {
    const auto& op = dynamic_cast<const movement&>(find_operation("transpose"));
    const lab::bench_request request{.op = &op,
                                     .subject = &find_kernel(subject),
                                     .yardstick = &find_kernel("baseline/memcpy"),
                                     .peers = {&find_kernel("baseline/copy"), &find_kernel("baseline/geam")},
                                     .seconds = 0.01};
    const dtype type{"", shape.element_size};
    return lab::cuda_bencher()->run({"", std::make_shared<movement_work>(op, type, shape, true)}, request);
}

// Small matrices are timed warm, in a graph; large ones after a flush.
TEST(cuda_bench, verifies_and_times_all_kernels) {
    for (int size : {1, 2, 4, 8, 16}) {
        for (std::int64_t side : {500, 3000}) {
            const lab::bench_result r =
                bench("transpose/padded@32x8",
                      {.rows = side, .cols = side, .element_size = size, .source_ld = side + 3, .source_offset = 1});
            ASSERT_EQ(r.skipped, "");
            for (const lab::bench_entry* e : r.entries()) {
                ASSERT_EQ(e->fault, "") << e->kernel << ", " << side << " of " << size;
                if (!e->skipped.empty()) {
                    EXPECT_EQ(e->kernel, "baseline/geam") << e->skipped;
                    std::printf("%s of %d: %s\n", e->kernel.c_str(), size, e->skipped.c_str());
                    continue;
                }
                EXPECT_GE(e->time.samples, 20);
                EXPECT_GT(e->time.p10_s, 0);
            }
        }
    }
}

// Rows with gaps, also narrow ones. Work that writes sectors in part is compared with ordered copies, which are
// verified. All candidates of the library are verified and timed.
TEST(cuda_bench, compares_random_cells_with_ordered_copies_and_measures_the_regret) {
    const auto& op = dynamic_cast<const movement&>(find_operation("transpose"));
    lab::bench_request request{.op = &op,
                               .subject = &find_kernel("transpose/production"),
                               .yardstick = &find_kernel("baseline/memcpy"),
                               .seconds = 0.01,
                               .rounds = 5,
                               .random_cells = 1,
                               .regret = true};
    for (const std::string& id : op.contestants(backend::cuda).ordered_copies)
        request.ordered_copies.push_back(&find_kernel(id));
    ASSERT_EQ(request.ordered_copies.size(), 5u);
    const auto bencher = lab::cuda_bencher();
    for (int size : {1, 2, 3, 4, 6, 8, 12, 16}) {
        for (auto [rows, cols] :
             {std::pair<std::int64_t, std::int64_t>{1, 300000}, {5, 100001}, {999, 1001}, {100001, 3}}) {
            for (std::int64_t offset : {0, 3}) {
                const problem_shape shape{.rows = rows,
                                          .cols = cols,
                                          .element_size = size,
                                          .source_ld = cols + 7,
                                          .destination_ld = rows + 3,
                                          .destination_offset = offset};
                const auto work = std::make_shared<movement_work>(op, dtype{"", size}, shape, true);
                const lab::bench_result r = bencher->run({"padded", work}, request);
                ASSERT_EQ(r.skipped, "");
                ASSERT_EQ(r.ordered_copies.size(), work->writes_whole_sectors() ? 0u : 5u)
                    << work->text() << " of " << size;
                for (const lab::bench_entry* e : r.entries()) {
                    ASSERT_EQ(e->fault, "") << e->kernel << ", " << work->text() << " of " << size;
                    EXPECT_EQ(e->skipped, "") << e->kernel << ", " << work->text() << " of " << size;
                    EXPECT_GE(e->time.samples, 5);
                }
                ASSERT_TRUE(r.regret.has_value());
                ASSERT_EQ(r.regret->fault, "") << work->text() << " of " << size;
                EXPECT_GT(r.regret->candidates, 1);
                EXPECT_GE(r.regret->share(), 0);
                EXPECT_EQ(r.choice, r.regret->chosen);
            }
        }
    }
}

TEST(cuda_bench, reports_a_wrong_result) {
    const lab::bench_result r = bench("fault/planted@wrong_index", {.rows = 600, .cols = 700});
    EXPECT_NE(r.subject.fault, "");
    EXPECT_TRUE(r.yardstick.timed());
}

TEST(cuda_bench, skips_matrices_that_do_not_fit) {
    EXPECT_NE(bench("transpose/padded@32x8", {.rows = 1000000, .cols = 1000000}).skipped, "");
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
