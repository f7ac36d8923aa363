// The library's multiplication in the emulator, with each tuning. Products of all layouts are right, and no access is
// out of bounds or races.
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
#include "run_kernels.hpp"
#include "sanitized.hpp"

using namespace cornerturn;
using tests::for_each_way;

namespace {

std::map<std::string, int> runs;

std::string name(const kernel& k, const gemm_shape& s) { return k.id + ", " + tests::describe(s); }

constexpr int kLeftOut = tests::kSanitized ? 39 : 0;  // of 40 of a kernel's products

void expect_right(const kernel& k, const gemm_shape& shape) {
    static std::map<std::string, int> to_leave_out;
    // Do not begin with the first products: they are nearly empty.
    int& more = to_leave_out.try_emplace(k.id, kLeftOut / 2).first->second;
    if (more > 0) {
        --more;
        return;
    }
    const lab::emulation_outcome run = lab::emulate(k, product_work(shape), {});
    if (run.declined) return;  // the library packs operands of this layout before these tiles read them
    ++runs[k.id], more = kLeftOut;
    ASSERT_EQ(run.verdict.fault, "") << name(k, shape);
    ASSERT_TRUE(run.finished) << name(k, shape);
}

// Calls f for each tuning that takes a k of `depth`. CORNERTURN_TUNINGS can choose rows of kGemmKernels: their names,
// with bars between them.
template <class F>
void for_each_tuning(std::int64_t depth, F f) {
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
    EXPECT_GT(tunings, 2 * products::kGemmKernelCount);
}

// All m, n and k. The four combinations of transposed operands alternate, so that each k gets all of them, and so do
// each m and each n.
TEST(products, edges_of_every_tile) {
    for_each_tuning(0, [](const kernel& k) {
        int combination = 0;
        for (std::int64_t m : {1, 63, 130}) {
            for (std::int64_t n : {1, 65, 200}) {
                for (std::int64_t depth : {0, 1, 7, 8, 9, 41}) {
                    gemm_shape s{.m = m, .n = n, .k = depth};
                    s.a_transposed = combination % 2 == 1, s.b_transposed = combination / 2 % 2 == 1, ++combination;
                    ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
                }
                ++combination;  // six depths and one: the next m and n begin with another combination
            }
        }
    });
}

// The kernels for small k begin their tiles further left, where C is aligned.
TEST(products, edges_of_tiles_that_begin_where_c_is_aligned) {
    for_each_tuning(0, [](const kernel& k) {
        if (tests::tuned_row(k).family != products::gemm_family::outer) return;
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

TEST(products, random_sizes_leading_dimensions_offsets_and_factors) {
    tests::random_products random;
    for_each_tuning(0, [&](const kernel& k) {
        for (int round = 0; round < 8; ++round) ASSERT_NO_FATAL_FAILURE(expect_right(k, random.next(300, 200, true)));
    });
}

// Rows along k may begin at any offset, and end anywhere within a step.
TEST(products, rows_begin_and_end_anywhere) {
    for_each_tuning(0, [](const kernel& k) {
        const products::gemm_kernel& row = tests::tuned_row(k);
        const std::int64_t depth = row.depth();
        for (std::int64_t at : {depth / row.slices, depth, 3 * depth + row.deep}) {
            for (std::int64_t off = -5; off <= 5; ++off) {
                if (at + off < 0 || !row.takes(at + off)) continue;
                const std::int64_t ld = at + off + (off + 5) / 2, offset = (off + 5) % 4;
                gemm_shape s{.m = row.rows + 1, .n = row.cols, .k = at + off, .lda = ld, .a_offset = offset};
                s.b_transposed = off % 2 == 0;
                if (off % 3 == 0) s.values = gemm_values::special;
                ASSERT_NO_FATAL_FAILURE(expect_right(k, s));
                // Kernels that compute the transpose have them in B.
                gemm_shape t{.m = s.n, .n = s.m, .k = s.k, .ldb = ld, .b_offset = offset, .b_transposed = true};
                t.a_transposed = !s.b_transposed, t.values = s.values;
                ASSERT_NO_FATAL_FAILURE(expect_right(k, t));
            }
        }
    });
}

// Sums of two chunks and more, in whole tiles and in three parts.
TEST(products, long_sums) {
    constexpr std::int64_t kShort = 17;
    for_each_tuning(kShort, [](const kernel& k) {
        const products::gemm_kernel& row = tests::tuned_row(k);
        const bool tiles = row.family == products::gemm_family::tiles;
        const std::int64_t chunks = 2 * std::max(row.chunk, tiles ? 3 * row.part_chunk : 0) * row.depth();
        const gemm_shape s{.m = 12, .n = std::min(8, row.cols), .k = chunks + 13, .values = gemm_values::integers};
        for_each_way(s, [&](const gemm_shape& each) { ASSERT_NO_FATAL_FAILURE(expect_right(k, each)); });
        gemm_shape in_fours = s;
        in_fours.k -= 1, in_fours.b_transposed = true;  // both along k
        ASSERT_NO_FATAL_FAILURE(expect_right(k, in_fours));
    });
}

// Infinities, NaN, subnormal numbers and -0 change only the sums that contain them. Values that kernels load without
// use, padding, chunks and parts carry them nowhere else.
TEST(products, infinities_and_nan_stay_in_their_sums) {
    for_each_tuning(5, [](const kernel& k) {
        for (std::int64_t depth : {5, 300}) {
            for_each_way({.m = 132, .n = 136, .k = depth, .beta = 2, .values = gemm_values::special},
                         [&](const gemm_shape& s) { ASSERT_NO_FATAL_FAILURE(expect_right(k, s)); });
        }
    });
}

// Each product of a batch is right, also if one A serves all. Two runs return the same bits.
TEST(products, batches_and_the_same_bits_again) {
    constexpr std::int64_t kCount = 3, kM = 70, kN = 133;
    std::mt19937 random(1);
    const auto some = [&](std::int64_t floats) {
        std::vector<float> values(static_cast<std::size_t>(floats));
        for (float& x : values) x = static_cast<float>(static_cast<int>(random() % 17) - 8) * 0.3f;
        return values;
    };
    const auto bytes = [](const std::vector<float>& v) { return v.size() * sizeof(float); };
    for (const auto& [depth, one_a] : {std::pair{150, true}, {6, false}}) {
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

}  // namespace
