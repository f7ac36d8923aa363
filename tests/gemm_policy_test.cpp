// The kernels that the library chooses for products, how it explains the choice, and how much workspace it asks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cornerturn/error.hpp"
#include "message.hpp"
#include "ops/gemm/kernels/policy.hpp"
#include "random_products.hpp"

using namespace cornerturn;

namespace {

gemm_work work_of(const gemm_shape& shape) { return shape.checked().work(nullptr, nullptr, nullptr, nullptr); }
// The choice for an H200.
products::gemm_tuning chosen(const gemm_shape& shape) { return products::choose(work_of(shape), kH200, true); }

TEST(gemm_policy, large_products_use_large_tiles_and_are_packed) {
    const products::gemm_tuning plain = chosen({.m = 8192, .n = 8192, .k = 8192});
    EXPECT_STREQ(plain.row().name, "large");
    EXPECT_TRUE(plain.pack_a);
    EXPECT_FALSE(plain.pack_b);
    const products::gemm_tuning transposed =
        chosen({.m = 8192, .n = 8192, .k = 8192, .a_transposed = true, .b_transposed = true});
    EXPECT_STREQ(transposed.row().name, "large");
    EXPECT_FALSE(transposed.pack_a);
    EXPECT_TRUE(transposed.pack_b);
}

TEST(gemm_policy, small_k_uses_the_outer_kernels) {
    for (std::int64_t k : {1, 8, 9, 16})
        EXPECT_EQ(chosen({.m = 5000, .n = 5001, .k = k}).row().family, products::gemm_family::outer) << k;
    EXPECT_EQ(chosen({.m = 5000, .n = 5001, .k = 100}).row().family, products::gemm_family::tiles);
}

TEST(gemm_policy, few_tiles_are_computed_in_parts) {
    EXPECT_GT(chosen({.m = 64, .n = 64, .k = 65536}).parts, 20);
    EXPECT_EQ(chosen({.m = 16896, .n = 16384, .k = 512}).parts, 1);  // 128 x 132 tiles
}

TEST(gemm_policy, a_large_operand_of_a_narrow_product_is_read_once) {
    for (std::int64_t few : {1, 2, 4}) {
        for (const gemm_shape& shape :
             {gemm_shape{.m = few, .n = 8192, .k = 8192, .b_transposed = true}, {.m = 8192, .n = few, .k = 8192}}) {
            const products::gemm_tuning tuned = chosen(shape);
            EXPECT_EQ(tuned.transposed, shape.m < shape.n);
            EXPECT_LE(tuned.row().cols, 16) << products::name_of(tuned);
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
        // Not exactly: C is stored differently.
        EXPECT_NEAR(chosen(shape).us / chosen(other).us, 1, 0.5);
    }
}

// If the caller gives no workspace, the library must allocate it, and that takes time.
TEST(gemm_policy, allocated_workspace_is_no_larger_than_a_given_one) {
    const gemm_shape shape{.m = 256, .n = 256, .k = 2048};
    const products::gemm_tuning given = products::choose(work_of(shape), kH200, true),
                                plain = products::choose(work_of(shape), kH200, false);
    EXPECT_GE(plain.us, given.us);
    EXPECT_LE(products::prepare(work_of(shape), plain, kH200).space.floats,
              products::prepare(work_of(shape), given, kH200).space.floats);
}

TEST(gemm_policy, choices_are_remembered_and_not_mixed_up) {
    for (int round = 0; round < 2; ++round) {
        for (std::int64_t k = 1; k < 300; k += 7) {
            const gemm_work work = work_of({.m = 300, .n = 200, .k = k});
            gemm_work batch = work, large = work_of({.m = 4096, .n = 4096, .k = k});
            batch.count = 30;
            EXPECT_EQ(products::choose(work, kH200, true), products::choose(work, kH200, true));
            EXPECT_NE(products::choose(work, kH200, true).us, products::choose(batch, kH200, true).us);
            const double aligned_us = products::choose(large, kH200, true).us;
            large.c += 1;
            EXPECT_NE(aligned_us, products::choose(large, kH200, true).us);
        }
    }
}

TEST(gemm_policy, every_choice_is_among_the_candidates) {
    tests::random_products random;
    for (int round = 0; round < 200; ++round) {
        const gemm_work work = random.next(3000, 3000, true).checked().work({}, {}, {}, {});
        const products::gemm_tuning tuned = products::choose(work, kH200, true);
        const auto all = products::candidates(work, kH200);
        EXPECT_NE(std::find(all.begin(), all.end(), tuned), all.end()) << products::name_of(tuned);
        for (const products::gemm_tuning& other : all) EXPECT_GE(other.us, tuned.us);
    }
}

TEST(gemm_policy, other_gpus_have_tiles_that_fit_them) {
    for (int capability : {75, 80, 86, 89, 120}) {
        const gpu on = gpu_of_capability(capability);
        for (std::int64_t k : {8, 24, 500, 8192}) {
            const products::gemm_tuning tuned = products::choose(work_of({.m = 8192, .n = 8192, .k = k}), on, true);
            const bool chunks = products::needs_chunks(tuned.row(), k, 1, tuned.parts);
            EXPECT_LE(tuned.row().shared_bytes(chunks) + 1024, on.shared_bytes) << capability;
        }
        // These GPUs, too, read a large operand of a narrow product only once.
        for (std::int64_t n : {1, 2, 4}) {
            for (bool transposed : {false, true}) {
                const gemm_work work = work_of({.m = 8192, .n = n, .k = 8192, .a_transposed = transposed});
                const products::gemm_kernel row = products::choose(work, on, true).row();
                EXPECT_EQ(row.family, transposed ? products::gemm_family::columns : products::gemm_family::dots)
                    << capability;
                EXPECT_GE(products::resident_on(row, false, products::layouts_of(work), on), 1) << capability;
            }
        }
        // The largest tiles, with long sums, just fit 100 KiB.
        const int of_large = products::resident_on(products::kGemmKernels[0], true, {}, on);
        EXPECT_GE(of_large, on.shared_bytes >= 100 << 10 ? 1 : 0) << capability;
    }
}

TEST(gemm_policy, the_workspace_is_enough_for_any_alignment) {
    for (const gemm_shape& shape : {gemm_shape{.m = 4096, .n = 4096, .k = 4096},
                                    {.m = 1000, .n = 1000, .k = 1000},
                                    {.m = 4096, .n = 4096, .k = 4096, .a_transposed = true},
                                    {.m = 64, .n = 64, .k = 65536},
                                    {.m = 5, .n = 0, .k = 3}}) {
        const gemm_work work = work_of(shape);
        const std::int64_t most = products::most_workspace(work, kH200);
        for (std::uintptr_t operands : {256, 260}) {
            for (std::uintptr_t c : {256, 260}) {
                gemm_work there = work;
                there.a = there.b = reinterpret_cast<const float*>(operands);
                there.c = reinterpret_cast<float*>(c);
                EXPECT_LE(products::prepare(there, kH200, true).space.floats, most);
            }
        }
    }
}

TEST(gemm_policy, the_workspace_is_enough_for_random_products) {
    tests::random_products random;
    int without = 0;
    for (int round = 0; round < 100; ++round) {
        const gemm_work work = random.next(3000, 3000, true).checked().work({}, {}, {}, {});
        const std::int64_t most = products::most_workspace(work, kH200);
        without += most == 0;
        EXPECT_LE(products::prepare(work, kH200, true).space.floats, most)
            << work.m << " x " << work.n << " x " << work.k;
    }
    EXPECT_GT(without, 0) << "some products need no workspace";
}

TEST(gemm_policy, explanation_names_kernel_operands_and_workspace) {
    const gemm_work work = work_of({.m = 8192, .n = 8192, .k = 8192});
    const std::int64_t bytes = 4 * products::prepare(work, kH200, true).space.floats;
    EXPECT_NAMES(products::explain(work, kH200, true), "large", "128 x 128", "A", "B", 16, bytes);
    EXPECT_NAMES(products::explain(work_of({.m = 0, .n = 4, .k = 4}), kH200, true), "nothing", "C");
}

TEST(gemm_policy, explanation_names_the_times_of_alternatives) {
    const gemm_work work = work_of({.m = 64, .n = 64, .k = 65536});
    const products::gemm_tuning tuned = products::choose(work, kH200, true);
    // The fastest tuning with another kernel, and the fastest one that differs in what it packs.
    products::gemm_tuning other = tuned, repacked = tuned;
    other.us = repacked.us = 1e30;
    for (const products::gemm_tuning& t : products::candidates(work, kH200)) {
        if (t.kernel != tuned.kernel && t.us < other.us) other = t;
        if ((t.pack_a || t.pack_b) != (tuned.pack_a || tuned.pack_b) && t.us < repacked.us) repacked = t;
    }
    const auto us = [](const products::gemm_tuning& t) { return std::llround(t.us); };
    EXPECT_NAMES(products::explain(work, kH200, true), tuned.row().name, tuned.parts, us(tuned), other.row().name,
                 us(other), us(repacked), "us");
}

TEST(gemm_policy, only_beta_c_is_computed_if_k_or_alpha_is_0) {
    gemm_work work = gemm_shape{.m = 4, .n = 4, .k = 9, .alpha = 0, .beta = 3}.checked().work({}, {}, {}, {});
    work.alpha = 0;
    EXPECT_EQ(products::as_computed(work).k, 0);
    EXPECT_TRUE(std::signbit(products::as_computed(work).alpha));  // -0 keeps a C of -0
    work.k = 0, work.alpha = std::nanf("");
    EXPECT_EQ(products::as_computed(work).alpha, 0);
    work.beta = 0;
    EXPECT_FALSE(std::signbit(products::as_computed(work).alpha));
    work.alpha = 1, work.k = products::kMostK;
    EXPECT_EQ(products::as_computed(work).k, products::kMostK);
    work.k += 1;
    EXPECT_THROW(products::as_computed(work), unsupported);
}

}  // namespace
