// What the library chooses for which product, how it explains that, and how much workspace it asks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cornerturn/error.hpp"
#include "ops/gemm/kernels/policy.hpp"
#include "random_products.hpp"

using namespace cornerturn;

namespace {

// What is chosen on an H200.
gemm_work work_of(const gemm_shape& shape) { return shape.checked().work(nullptr, nullptr, nullptr, nullptr); }
production::gemm_tuning chosen(const gemm_shape& shape) { return production::choose(work_of(shape), kH200, true); }

TEST(gemm_policy, large_products_are_of_large_tiles_and_packed) {
    const production::gemm_tuning as_it_is = chosen({.m = 8192, .n = 8192, .k = 8192});
    EXPECT_STREQ(as_it_is.row().name, "large");
    EXPECT_TRUE(as_it_is.pack_a);
    EXPECT_FALSE(as_it_is.pack_b);
    const production::gemm_tuning transposed =
        chosen({.m = 8192, .n = 8192, .k = 8192, .a_transposed = true, .b_transposed = true});
    EXPECT_STREQ(transposed.row().name, "large");
    EXPECT_FALSE(transposed.pack_a);
    EXPECT_TRUE(transposed.pack_b);
}

TEST(gemm_policy, little_k_is_computed_as_c_is_stored) {
    for (std::int64_t k : {1, 8, 9, 16})
        EXPECT_EQ(chosen({.m = 5000, .n = 5001, .k = k}).row().way, production::gemm_way::outer) << k;
    EXPECT_EQ(chosen({.m = 5000, .n = 5001, .k = 100}).row().way, production::gemm_way::tiles);
}

TEST(gemm_policy, few_tiles_are_computed_in_parts) {
    EXPECT_GT(chosen({.m = 64, .n = 64, .k = 65536}).parts, 20);
    EXPECT_EQ(chosen({.m = 16896, .n = 16384, .k = 512}).parts, 1);  // 128 x 132 tiles
}

TEST(gemm_policy, a_large_operand_of_a_narrow_product_is_read_once) {
    for (std::int64_t few : {1, 2, 4}) {
        for (const gemm_shape& shape :
             {gemm_shape{.m = few, .n = 8192, .k = 8192, .b_transposed = true}, {.m = 8192, .n = few, .k = 8192}}) {
            const production::gemm_tuning tuned = chosen(shape);
            EXPECT_EQ(tuned.transposed, shape.m < shape.n);
            EXPECT_LE(tuned.row().cols, 16) << production::name_of(tuned);
        }
    }
}

TEST(gemm_policy, a_product_and_its_transpose_take_as_long) {
    for (const gemm_shape& shape : {gemm_shape{.m = 3000, .n = 40, .k = 700},
                                    {.m = 5, .n = 3000, .k = 1001},
                                    {.m = 130, .n = 1000, .k = 64, .a_transposed = true}}) {
        gemm_shape other = shape;
        other.m = shape.n, other.n = shape.m;
        other.a_transposed = !shape.b_transposed, other.b_transposed = !shape.a_transposed;
        // But for how C is stored.
        EXPECT_NEAR(chosen(shape).us / chosen(other).us, 1, 0.5);
    }
}

// Memory that the library has to get takes time, too.
TEST(gemm_policy, without_a_workspace_none_is_used_where_it_saves_little) {
    const gemm_shape shape{.m = 256, .n = 256, .k = 2048};
    const production::gemm_tuning given = production::choose(work_of(shape), kH200, true),
                                  plain = production::choose(work_of(shape), kH200, false);
    EXPECT_GE(plain.us, given.us);
    EXPECT_LE(production::plan_of(work_of(shape), plain, kH200).space.floats,
              production::plan_of(work_of(shape), given, kH200).space.floats);
}

TEST(gemm_policy, what_was_chosen_before_is_chosen_again) {
    for (int round = 0; round < 2; ++round) {
        for (std::int64_t k = 1; k < 300; k += 7) {
            const gemm_work work = work_of({.m = 300, .n = 200, .k = k});
            gemm_work batch = work, large = work_of({.m = 4096, .n = 4096, .k = k});
            batch.count = 30;
            EXPECT_EQ(production::choose(work, kH200, true), production::choose(work, kH200, true));
            EXPECT_NE(production::choose(work, kH200, true).us, production::choose(batch, kH200, true).us);
            const double aligned_us = production::choose(large, kH200, true).us;
            large.c += 1;
            EXPECT_NE(aligned_us, production::choose(large, kH200, true).us);
        }
    }
}

TEST(gemm_policy, every_choice_is_among_the_candidates) {
    tests::random_products random;
    for (int round = 0; round < 200; ++round) {
        const gemm_work work = random.next(3000, 3000, true).checked().work({}, {}, {}, {});
        const production::gemm_tuning tuned = production::choose(work, kH200, true);
        const auto all = production::candidates(work, kH200);
        EXPECT_NE(std::find(all.begin(), all.end(), tuned), all.end()) << production::name_of(tuned);
        for (const production::gemm_tuning& other : all) EXPECT_GE(other.us, tuned.us);
    }
}

TEST(gemm_policy, other_gpus_have_tiles_that_fit_them) {
    for (int capability : {75, 80, 86, 89, 120}) {
        const gpu on = gpu_of_capability(capability);
        for (std::int64_t k : {8, 24, 500, 8192}) {
            const production::gemm_tuning tuned = production::choose(work_of({.m = 8192, .n = 8192, .k = k}), on, true);
            const bool chunks = production::needs_chunks(tuned.row(), k, 1, tuned.parts);
            EXPECT_LE(tuned.row().shared_bytes(chunks) + 1024, on.shared_bytes) << capability;
        }
        // A large operand of a narrow product is read once there, too.
        for (std::int64_t n : {1, 2, 4}) {
            for (bool transposed : {false, true}) {
                const gemm_work work = work_of({.m = 8192, .n = n, .k = 8192, .a_transposed = transposed});
                const production::gemm_kernel row = production::choose(work, on, true).row();
                EXPECT_EQ(row.way, transposed ? production::gemm_way::columns : production::gemm_way::dots)
                    << capability;
                EXPECT_GE(production::resident_on(row, false, production::paths_of(work), on), 1) << capability;
            }
        }
        // The largest tiles, with long sums, just fit 100 KiB.
        const int of_large = production::resident_on(production::kGemmKernels[0], true, {}, on);
        EXPECT_GE(of_large, on.shared_bytes >= 100 << 10 ? 1 : 0) << capability;
    }
}

TEST(gemm_policy, the_workspace_is_enough_wherever_matrices_lie) {
    for (const gemm_shape& shape : {gemm_shape{.m = 4096, .n = 4096, .k = 4096},
                                    {.m = 1000, .n = 1000, .k = 1000},
                                    {.m = 4096, .n = 4096, .k = 4096, .a_transposed = true},
                                    {.m = 64, .n = 64, .k = 65536},
                                    {.m = 5, .n = 0, .k = 3}}) {
        const gemm_work work = work_of(shape);
        const std::int64_t most = production::most_workspace(work, kH200);
        for (std::uintptr_t operands : {256, 260}) {
            for (std::uintptr_t c : {256, 260}) {
                gemm_work there = work;
                there.a = there.b = reinterpret_cast<const float*>(operands);
                there.c = reinterpret_cast<float*>(c);
                EXPECT_LE(production::plan_of(there, kH200, true).space.floats, most);
            }
        }
    }
}

TEST(gemm_policy, the_workspace_is_enough_for_random_products) {
    tests::random_products random;
    int without = 0;
    for (int round = 0; round < 100; ++round) {
        const gemm_work work = random.next(3000, 3000, true).checked().work({}, {}, {}, {});
        const std::int64_t most = production::most_workspace(work, kH200);
        without += most == 0;
        EXPECT_LE(production::plan_of(work, kH200, true).space.floats, most)
            << work.m << " x " << work.n << " x " << work.k;
    }
    EXPECT_GT(without, 0) << "nothing is asked for where nothing is used";
}

TEST(gemm_policy, explains_itself) {
    const std::string text = production::explain(work_of({.m = 8192, .n = 8192, .k = 8192}), kH200, true);
    for (const char* part : {"128 x 128", "A along k, transposed first", "B aligned, 16 bytes at a time", "workspace"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(gemm_policy, says_what_else_would_take) {
    const std::string of_long_k = production::explain(work_of({.m = 64, .n = 64, .k = 65536}), kH200, true);
    for (const char* part : {"estimated at ", ", as ", "with copies of the operands ", "in one part "})
        EXPECT_NE(of_long_k.find(part), std::string::npos) << of_long_k;
    EXPECT_EQ(production::explain(work_of({.m = 0, .n = 4, .k = 4}), kH200, true), "nothing: C is empty");
}

TEST(gemm_policy, what_is_computed_is_beta_c_alone_where_there_is_nothing_to_add) {
    gemm_work work = gemm_shape{.m = 4, .n = 4, .k = 9, .alpha = 0, .beta = 3}.checked().work({}, {}, {}, {});
    work.alpha = 0;
    EXPECT_EQ(production::as_computed(work).k, 0);
    EXPECT_TRUE(std::signbit(production::as_computed(work).alpha));  // -0 keeps a C of -0
    work.k = 0, work.alpha = std::nanf("");
    EXPECT_EQ(production::as_computed(work).alpha, 0);
    work.beta = 0;
    EXPECT_FALSE(std::signbit(production::as_computed(work).alpha));
    work.alpha = 1, work.k = production::kMostK;
    EXPECT_EQ(production::as_computed(work).k, production::kMostK);
    work.k += 1;
    EXPECT_THROW(production::as_computed(work), unsupported);
}

}  // namespace
