// The library's multiplication in the emulator, tuned in each way: every product comes out, however its matrices lie,
// and no access strays or races. And what is chosen, for which work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "emulator/emulation.hpp"
#include "lab/run.hpp"
#include "ops/gemm/kernels/policy.hpp"
#include "random_products.hpp"
#include "work.hpp"

using namespace cornerturn;
using tests::for_each_way;

namespace {

std::map<std::string, int> runs;

std::string name(const kernel& k, const gemm_shape& s) { return k.id + ", " + tests::describe(s); }

void expect_right(const kernel& k, const gemm_shape& shape) {
    const lab::emulated run = lab::emulate(k, product_work(shape), {});
    if (run.declined) return;  // operands that lie so are packed for these tiles
    ++runs[k.id];
    ASSERT_EQ(run.found.fault, "") << name(k, shape);
    ASSERT_TRUE(run.finished) << name(k, shape);
}

// Those that take so much of k. Where somebody asks for some kernels, by the names of their rows, only theirs.
template <class F>
void for_each_tuning(std::int64_t depth, F f) {
    // Of these rows alone, with bars between their names, where somebody asks for some.
    const char* const asked = std::getenv("CORNERTURN_TUNINGS");
    const auto is_asked = [&](const std::string& row) {
        return asked == nullptr || *asked == '\0' ||
               ("|" + std::string(asked) + "|").find("|" + row + "|") != std::string::npos;
    };
    int tunings = 0;
    for (const kernel& k : kernels()) {
        if (!k.id.starts_with("tuned_gemm@")) continue;
        ++tunings;
        if (!is_asked(tests::tuned_row(k).name)) continue;
        if (!tests::tuned_row(k).takes(depth)) continue;
        ASSERT_NO_FATAL_FAILURE(f(k));
        EXPECT_GT(runs[k.id], 0) << k.id;
    }
    EXPECT_GT(tunings, 2 * production::kGemmKernelCount);
}

TEST(gemm_production, edges_of_every_tile) {
    for_each_tuning(0, [](const kernel& k) {
        for (std::int64_t m : {1, 63, 130}) {
            for (std::int64_t n : {1, 65, 200}) {
                for (std::int64_t depth : {0, 1, 7, 8, 9, 41}) {
                    for_each_way({.m = m, .n = n, .k = depth},
                                 [&](const gemm_shape& s) { ASSERT_NO_FATAL_FAILURE(expect_right(k, s)); });
                }
            }
        }
    });
}

// What computes little k begins its tiles to the left of where they seem, by how C lies.
TEST(gemm_production, edges_of_tiles_that_begin_where_c_is_aligned) {
    for_each_tuning(0, [](const kernel& k) {
        if (tests::tuned_row(k).way != production::gemm_way::outer) return;
        for (std::int64_t n : {57, 58, 63, 64, 65, 121, 124, 125, 127, 128, 129}) {
            for (std::int64_t ldc : {n, n + 1, (n + 7) / 8 * 8}) {
                for (std::int64_t depth : {3, 8, 15, 16, 17}) {
                    const gemm_shape s{.m = 20, .n = n, .k = depth, .ldc = ldc, .c_offset = (n + depth) % 9};
                    ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
                }
            }
        }
    });
}

TEST(gemm_production, random_sizes_leading_dimensions_offsets_and_factors) {
    tests::random_products random;
    for_each_tuning(0, [&](const kernel& k) {
        for (int round = 0; round < 24; ++round) ASSERT_NO_FATAL_FAILURE(expect_right(k, random.next(300, 200, true)));
    });
}

// Rows that lie along k may begin anywhere, and end anywhere in a step.
TEST(gemm_production, rows_begin_and_end_anywhere) {
    for_each_tuning(0, [](const kernel& k) {
        const production::gemm_kernel& row = tests::tuned_row(k);
        const std::int64_t depth = row.depth();
        for (std::int64_t at : {depth / row.slices, depth, 3 * depth + row.deep}) {
            for (std::int64_t off = -5; off <= 5; ++off) {
                if (at + off < 0 || !row.takes(at + off)) continue;
                const std::int64_t ld = at + off + (off + 5) / 2, offset = (off + 5) % 4;
                gemm_shape s{.m = row.rows + 1, .n = row.cols, .k = at + off, .lda = ld, .a_offset = offset};
                s.b_transposed = off % 2 == 0;
                if (off % 3 == 0) s.values = gemm_values::special;
                ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
                // What computes the transpose has them in B.
                gemm_shape t{.m = s.n, .n = s.m, .k = s.k, .ldb = ld, .b_offset = offset, .b_transposed = true};
                t.a_transposed = !s.b_transposed, t.values = s.values;
                ASSERT_NO_FATAL_FAILURE(expect_right(k, t));
            }
        }
    });
}

// Sums of two chunks and more, in whole tiles and in three parts.
TEST(gemm_production, long_sums_come_out) {
    constexpr std::int64_t kShort = 17;
    for_each_tuning(kShort, [](const kernel& k) {
        const production::gemm_kernel& row = tests::tuned_row(k);
        const bool tiles = row.way == production::gemm_way::tiles;
        const std::int64_t chunks = 2 * std::max(row.chunk, tiles ? 3 * row.part_chunk : 0) * row.depth();
        const gemm_shape s{.m = 12, .n = std::min(8, row.cols), .k = chunks + 13, .values = gemm_values::integers};
        for_each_way(s, [&](const gemm_shape& each) { ASSERT_NO_FATAL_FAILURE(expect_right(k, each)); });
        gemm_shape in_fours = s;
        in_fours.k -= 1, in_fours.b_transposed = true;  // both along k
        ASSERT_NO_FATAL_FAILURE(expect_right(k, in_fours));
    });
}

// Infinities, NaN, subnormal numbers and -0 go where they go in any sum, and nowhere else: not into what lies beside
// them, nor by way of what is loaded in vain, padded or added up in chunks and parts.
TEST(gemm_production, what_is_not_finite_stays_in_its_sums) {
    for_each_tuning(5, [](const kernel& k) {
        for (std::int64_t depth : {5, 41, 300}) {
            for_each_way({.m = 132, .n = 136, .k = depth, .beta = 2, .values = gemm_values::special},
                         [&](const gemm_shape& s) { ASSERT_NO_FATAL_FAILURE(expect_right(k, s)); });
        }
    });
}

// A batch's products are those of its matrices, which may be one for all of them; two runs give the same bits.
TEST(gemm_production, batches_and_the_same_bits_again) {
    constexpr std::int64_t kCount = 3, kM = 70, kN = 133;
    std::mt19937 random(1);
    const auto some = [&](std::int64_t floats) {
        std::vector<float> values(static_cast<std::size_t>(floats));
        for (float& x : values) x = static_cast<float>(static_cast<int>(random() % 17) - 8) * 0.3f;
        return values;
    };
    const auto bytes = [](const std::vector<float>& v) { return v.size() * sizeof(float); };
    for (const auto& [depth, one_a] : {std::pair{150, false}, {150, true}, {6, false}, {6, true}}) {
        const std::vector<float> a = some(one_a ? kM * depth : kCount * kM * depth), b = some(kCount * depth * kN);
        for_each_tuning(depth, [&, depth = depth, one_a = one_a](const kernel& k) {
            gemm_work w{.a = a.data(),
                        .b = b.data(),
                        .c = nullptr,
                        .m = kM,
                        .n = kN,
                        .k = depth,
                        .lda = depth,
                        .ldb = kN,
                        .ldc = kN};
            w.count = kCount, w.a_stride = one_a ? 0 : kM * depth, w.b_stride = depth * kN;
            w.c_stride = kM * kN;
            std::vector<float> space(static_cast<std::size_t>(tests::workspace(k, backend::emulator, w)) + 4), before;
            w.workspace = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(space.data()) + 15) / 16 * 16);
            for (int run = 0; run < 2; ++run) {
                std::vector<float> c(static_cast<std::size_t>(kCount * kM * kN), std::nanf(""));
                w.c = c.data();
                emulator::emulation emulation;
                emulation.add_buffer("A", a.data(), bytes(a), false);
                emulation.add_buffer("B", b.data(), bytes(b), false);
                emulation.add_buffer("C", c.data(), bytes(c), true);
                emulation.add_buffer("the workspace", space.data(), bytes(space), true);
                try {
                    tests::run(k, backend::emulator, w);
                } catch (const unsupported&) {
                    return;
                }
                ++runs[k.id];
                for (std::int64_t i = 0; i < kCount; ++i) {
                    for (std::int64_t row = 0; row < kM; row += 23) {
                        for (std::int64_t col = 0; col < kN; col += 11) {
                            double sum = 0;
                            for (std::int64_t l = 0; l < depth; ++l)
                                sum += static_cast<double>(w.a[i * w.a_stride + row * depth + l]) *
                                       w.b[i * w.b_stride + l * kN + col];
                            ASSERT_NEAR(c[static_cast<std::size_t>((i * kM + row) * kN + col)], sum, 1e-3)
                                << k.id << ": " << i << ", " << row << ", " << col;
                        }
                    }
                }
                if (run == 1) {
                    EXPECT_EQ(c, before) << k.id;
                }
                before = std::move(c);
            }
        });
    }
}

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
                const production::gemm_kernel& row = production::choose(work, on, true).row();
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
    for (const char* part : {"estimated at ", ", as ", "with operands brought first ", "in one part "})
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
