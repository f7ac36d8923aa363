// Every rung of the multiplication's ladder computes every product: ragged and tiny sizes, leading dimensions, offsets,
// alpha and beta, exact integers, and sizes beyond 65,535 tiles.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "lab/run.hpp"
#include "message.hpp"
#include "random_products.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kSizes[] = {0, 1, 2, 31, 33, 129};

template <class F>
void for_each_rung(F f) {
    int rungs = 0;
    for (const kernel& k : kernels()) {
        if (!k.id.starts_with("gemm/") || !k.is_built_for(backend::emulator)) continue;
        ++rungs;
        f(k);
    }
    EXPECT_GE(rungs, 7);
}

std::string name(const kernel& k, const gemm_shape& s) { return k.id + ", " + tests::describe(s); }

void expect_right(const kernel& k, const gemm_shape& shape, bool every_block = true) {
    const lab::emulation_outcome run = lab::emulate(k, product_work(shape), {.every_block = every_block});
    ASSERT_EQ(run.verdict.fault, "") << name(k, shape);
    ASSERT_TRUE(run.finished) << name(k, shape);
}

TEST(gemm_ladder, edges_of_every_tile) {
    for_each_rung([](const kernel& k) {
        for (std::int64_t m : kSizes) {
            for (std::int64_t n : kSizes) {
                for (std::int64_t depth : {0, 1, 33})
                    ASSERT_NO_FATAL_FAILURE(expect_right(k, {.m = m, .n = n, .k = depth}));
            }
        }
    });
}

TEST(gemm_ladder, random_sizes_leading_dimensions_offsets_and_factors) {
    tests::random_products random;
    for_each_rung([&](const kernel& k) {
        for (int round = 0; round < 12; ++round) ASSERT_NO_FATAL_FAILURE(expect_right(k, random.next(260, 90, false)));
    });
}

TEST(gemm_ladder, integers_are_exact) {
    for_each_rung([](const kernel& k) {
        for (float beta : {0.0f, 1.0f, -3.0f}) {
            const gemm_shape s{.m = 129, .n = 131, .k = 257, .alpha = 2, .beta = beta, .values = gemm_values::integers};
            ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
        }
    });
}

TEST(gemm_ladder, narrow_products_of_a_long_k) {
    for (const char* id : {"gemm/warp-rows", "gemm/split-k"}) {
        const kernel& k = find_kernel(id);
        for (const auto& [m, n, depth] :
             {std::array{1, 1, 5000}, {16, 16, 4096}, {3, 70, 1001}, {300, 4, 1024}, {300, 5, 777}}) {
            for (gemm_values values : {gemm_values::symmetric, gemm_values::special}) {
                gemm_shape s{.m = m, .n = n, .k = depth, .alpha = 2.5f, .beta = -1, .values = values};
                ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
                s.lda = depth + 3, s.ldb = n + 3, s.ldc = n + 1, s.c_offset = 1, s.beta = 0;
                ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
            }
        }
    }
}

// The expected counts were worked out by hand.
TEST(gemm_ladder, narrow_products_count_exactly) {
    const auto counts_of = [](const char* id, const gemm_shape& s) {
        return lab::emulate(find_kernel(id), product_work(s), {}).report;
    };
    const gemm_shape s{.m = 16, .n = 4, .k = 4096};
    const std::uint64_t warps = 16 / 4, steps = 4096 / 32;
    const emulator::report rows = counts_of("gemm/warp-rows", s);
    EXPECT_EQ(rows.blocks, warps / 2);
    // A lane loads a float of each of 4 rows, and a row of B, of 16 bytes.
    EXPECT_EQ(rows.counts.global_requests[emulator::kLoad], warps * steps * 5);
    EXPECT_EQ(rows.counts.global_sectors[emulator::kLoad], warps * steps * (4 * 4 + 16));
    EXPECT_EQ(rows.counts.global_requests[emulator::kStore], warps);
    EXPECT_EQ(rows.counts.global_sectors[emulator::kStore], warps * 2);
    EXPECT_EQ(rows.counts.shared_requests[emulator::kLoad], 0u);

    const emulator::report split = counts_of("gemm/split-k", s);
    EXPECT_EQ(split.blocks, steps + 16);  // a block for each step of k, and a block that adds up each row of C
    EXPECT_EQ(split.launches, 1u);        // of the kernel that adds up; the parts are computed as a step before it
    EXPECT_EQ(split.counts.global_requests[emulator::kLoad], steps * (16 + 32) + 16 * steps);
    EXPECT_EQ(split.counts.global_sectors[emulator::kLoad], steps * (16 * 4 + 32) + 16 * steps);
    EXPECT_EQ(split.counts.global_requests[emulator::kStore], steps * 4 + 16);
    EXPECT_EQ(split.counts.global_sectors[emulator::kStore], steps * 16 / 2 + 16);
}

TEST(gemm_ladder, classes_count_as_every_block_does) {
    for_each_rung([](const kernel& k) {
        for (const gemm_shape& s : {gemm_shape{.m = 300, .n = 260, .k = 40},
                                    {.m = 257, .n = 131, .k = 33, .ldc = 140},
                                    {.m = 45, .n = 7, .k = 101}}) {
            const lab::emulation_outcome all = lab::emulate(k, product_work(s), {}),
                                         some = lab::emulate(k, product_work(s), {.every_block = false});
            ASSERT_EQ(some.verdict.fault, "") << name(k, s);
            EXPECT_TRUE(some.report.counts == all.report.counts) << name(k, s);
            EXPECT_EQ(some.report.grid.x, all.report.grid.x);
        }
    });
}

TEST(gemm_ladder, more_than_65535_tiles_down) {
    for (const char* id : {"gemm/tiled", "gemm/blocked@plain"}) {
        const gemm_shape s{.m = 9000000, .n = 3, .k = 2};
        ASSERT_NO_FATAL_FAILURE(expect_right(find_kernel(id), s, false));
    }
}

TEST(gemm_ladder, empty_products_launch_nothing) {
    const std::int64_t huge = std::int64_t{1} << 58;
    for_each_rung([&](const kernel& k) {
        for (const gemm_shape& s :
             {gemm_shape{.m = huge, .n = 0, .k = 0}, {.m = 0, .n = huge, .k = 0}, {.m = 5, .n = 0, .k = 3}}) {
            const lab::emulation_outcome run = lab::emulate(k, product_work(s), {});
            ASSERT_EQ(run.verdict.fault, "") << name(k, s);
            ASSERT_EQ(run.report.launches, 0u) << name(k, s);
            ASSERT_EQ(run.report.blocks, 0u) << name(k, s);
        }
    });
}

TEST(gemm_ladder, refuses_impossible_sizes) {
    EXPECT_THROW((gemm_shape{.m = -1, .n = 1, .k = 1}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = 4, .n = 4, .k = 4, .lda = 3}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = 1, .n = 1, .k = (1 << 22) + 1}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = std::numeric_limits<std::int64_t>::max(), .n = 0, .k = 0}.checked()),
                 invalid_argument);
    EXPECT_THROW((gemm_shape{.m = std::int64_t{1} << 40, .n = 1, .k = std::int64_t{1} << 40}.checked()),
                 invalid_argument);
}

// The verifier of products finds each mistake.
class gemm_verifier : public testing::Test {
protected:
    static std::string fault_of(const gemm_shape& shape, const std::function<void(const gemm_work&)>& spoil) {
        host_gemm problem(shape);
        problem.prepare();
        const gemm_work w = problem.work();
        for (std::int64_t product = 0; product < w.count; ++product) {
            const float *const a = w.a + product * w.a_stride, *const b = w.b + product * w.b_stride;
            for (std::int64_t row = 0; row < w.m; ++row) {
                for (std::int64_t col = 0; col < w.n; ++col) {
                    float sum = 0;
                    for (std::int64_t i = 0; i < w.k; ++i) sum += a[row * w.lda + i] * b[i * w.ldb + col];
                    float& c = w.c[product * w.c_stride + row * w.ldc + col];
                    c = w.beta == 0 ? w.alpha * sum : w.alpha * sum + w.beta * c;
                }
            }
        }
        spoil(w);
        return problem.check().fault;
    }

    // The fault is in C, but in no row of it.
    static void expect_names_only_c(const std::string& fault) {
        EXPECT_NAMES(fault, "C");
        EXPECT_EQ(fault.find_first_of("0123456789"), std::string::npos) << fault;
    }
};

TEST_F(gemm_verifier, passes_right_products) {
    for (gemm_values values :
         {gemm_values::integers, gemm_values::uniform, gemm_values::symmetric, gemm_values::special}) {
        const gemm_shape s{.m = 40, .n = 30, .k = 500, .ldc = 33, .alpha = 3, .beta = 2, .values = values};
        EXPECT_EQ(fault_of(s, [](const gemm_work&) {}), "");
    }
}

// Denormal results lose bits in any precision. With a long k, no single element shows that bits were lost.
TEST_F(gemm_verifier, tells_low_precision_from_denormal_results) {
    for (float alpha : {1e-30f, 1e-40f, 1e-44f}) {
        const gemm_shape s{.m = 40, .n = 30, .k = 16, .alpha = alpha, .values = gemm_values::symmetric};
        EXPECT_EQ(fault_of(s, [](const gemm_work&) {}), "") << alpha;
    }
    gemm_shape s{.m = 40, .n = 30, .k = 9000, .alpha = 1e-30f, .values = gemm_values::symmetric};
    const auto round = [](const gemm_work& w) {
        for (std::int64_t i = 0; i < w.m * w.ldc; ++i) w.c[i] += w.c[i] * 0x1p-9f;
    };
    EXPECT_NAMES(fault_of(s, round), "C", "2.4e-07");  // 2^-22, the largest allowed error
}

// Matrices of C one after the other, with gaps and without, and side by side.
std::vector<gemm_shape> batches_of_products() {
    const gemm_shape s{.m = 7, .n = 5, .k = 20, .c_offset = 3, .count = 4};
    std::vector<gemm_shape> all = {s, s, s, s, s};
    all[1].ldc = 6, all[1].c_stride = 50, all[1].beta = 2, all[1].alpha = 3;
    all[2].ldc = 30, all[2].c_stride = 7;
    all[3].a_shared = true, all[3].b_stride = 120;
    all[4].b_shared = true, all[4].a_stride = 150, all[4].values = gemm_values::special;
    return all;
}

TEST_F(gemm_verifier, passes_batches_that_are_right) {
    for (const gemm_shape& s : batches_of_products()) {
        EXPECT_EQ(fault_of(s, [](const gemm_work&) {}), "");
        host_gemm problem(s);
        problem.prepare();
        EXPECT_EQ(problem.check().elements, 4 * 7 * 5);
    }
}

TEST_F(gemm_verifier, gives_each_product_other_values) {
    host_gemm problem({.m = 8, .n = 8, .k = 8, .values = gemm_values::symmetric, .count = 100});
    problem.prepare();
    const gemm_work w = problem.work();
    // There are 2^24 values, so a few are drawn twice.
    EXPECT_GT(std::set<float>(w.a, w.a + 100 * 64).size(), 6380u);
    EXPECT_GT(std::set<float>(w.b, w.b + 100 * 64).size(), 6380u);
}

TEST_F(gemm_verifier, finds_each_mistake_in_a_batch) {
    for (const gemm_shape& s : batches_of_products()) {
        if (s.values != gemm_values::special) {
            const auto add = [](const gemm_work& w) { w.c[2 * w.c_stride + 3 * w.ldc + 4] += 1e-3f; };
            EXPECT_NAMES(fault_of(s, add), "C", 3, 4, 2);
            // One product in place of another.
            const auto swap = [](const gemm_work& w) { std::swap_ranges(w.c, w.c + w.n, w.c + 3 * w.c_stride); };
            EXPECT_NAMES(fault_of(s, swap), "C", 0, 0, 0);
        }
        host_gemm problem(s);  // nothing was computed
        problem.prepare();
        EXPECT_NAMES(problem.check().fault, "C", 0);
    }
    const auto all = batches_of_products();
    // After a row, after a matrix, and after a row of matrices that are side by side.
    EXPECT_NAMES(fault_of(all[1], [](const gemm_work& w) { w.c[50 + 2 * 6 + 5] = 0; }), 2, "C", 1);
    EXPECT_NAMES(fault_of(all[1], [](const gemm_work& w) { w.c[3 * 50 - 1] = 0; }), 6, "C", 2);
    EXPECT_NAMES(fault_of(all[2], [](const gemm_work& w) { w.c[30 + 7 + 6] = 0; }), 1, "C", 1);
    EXPECT_NAMES(fault_of(all[2], [](const gemm_work& w) { w.c[29] = 0; }), 0, "C", 3);
    expect_names_only_c(fault_of(all[1], [](const gemm_work& w) { w.c[-1] = 0; }));
}

TEST_F(gemm_verifier, refuses_impossible_batches) {
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .count = -1}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .count = 2, .c_stride = 11}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .count = 2, .a_stride = -15}.checked()), invalid_argument);
    EXPECT_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .count = huge / 4}.checked()), invalid_argument);
    EXPECT_NO_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .ldc = 8, .count = 2, .c_stride = 4}.checked()));
    EXPECT_NO_THROW((gemm_shape{.m = 3, .n = 4, .k = 5, .count = 1, .c_stride = 1}.checked()));
}

TEST_F(gemm_verifier, finds_each_mistake) {
    const gemm_shape s{.m = 40, .n = 30, .k = 50, .ldc = 33, .c_offset = 2};
    EXPECT_NAMES(fault_of(s, [](const gemm_work& w) { w.c[3 * w.ldc + 5] += 1e-3f; }), "C", 3, 5);
    EXPECT_NAMES(fault_of(s, [](const gemm_work& w) { w.c[0] = std::numeric_limits<float>::quiet_NaN(); }), "C", 0, 0,
                 "nan");
    gemm_shape special = s;
    special.values = gemm_values::special, special.k = 300;
    int nan = 0, infinite = 0, finite = 0;
    for (std::int64_t at = 0; at < 40; ++at) {
        const auto is_missed = [&](float instead) {
            float right = 0;
            const std::string fault = fault_of(
                special, [&](const gemm_work& w) { right = std::exchange(w.c[at * w.ldc + at % w.n], instead); });
            nan += std::isnan(right), infinite += std::isinf(right), finite += std::isfinite(right);
            const bool same = std::isnan(right) ? std::isnan(instead) : right == instead;
            return fault.empty() != same;
        };
        for (float instead : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(), 1e30f})
            EXPECT_FALSE(is_missed(instead)) << "row " << at << ", " << instead;
    }
    EXPECT_GT(nan, 0);
    EXPECT_GT(infinite, 0);
    EXPECT_GT(finite, 0);
    EXPECT_NAMES(fault_of(s, [](const gemm_work& w) { std::swap(w.c[7 * w.ldc], w.c[8 * w.ldc]); }), "C", 7, 0);
    EXPECT_NAMES(fault_of(s, [](const gemm_work& w) { w.c[2 * w.ldc + w.n] = 0; }), 2, "C");
    expect_names_only_c(fault_of(s, [](const gemm_work& w) { w.c[-1] = 0; }));
    // Guard byte 1 after the end.
    EXPECT_NAMES(fault_of(s, [](const gemm_work& w) { w.c[(w.m - 1) * w.ldc + w.n] = 0; }), 1, "C");
    const gemm_shape exact{.m = 40, .n = 30, .k = 50, .values = gemm_values::integers};
    EXPECT_NE(fault_of(exact, [](const gemm_work& w) { w.c[1] = std::nextafter(w.c[1], 1e9f); }), "");
}

}  // namespace
