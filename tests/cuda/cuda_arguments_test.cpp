// What cornerturn::cuda::transpose, copy, permute and gemm refuse before they ask for a device: this runs where there
// is no GPU, too.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "core/overlap.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/copy.hpp"
#include "cornerturn/cuda/gemm.hpp"
#include "cornerturn/cuda/l2.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "ops/gemm/kernels/arguments.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

float* address(std::uintptr_t value) { return reinterpret_cast<float*>(value); }

std::string refusal(batch_view<const float> source, batch_view<float> destination) {
    try {
        cuda::transpose(source, destination, nullptr);
    } catch (const invalid_argument& refused) {
        return refused.what();
    } catch (const error& other) {
        return std::string("not refused: ") + other.what();
    }
    return "not refused";
}

const batch_view<const float> kSource{address(0x1000), 4, 6, 6, 1, 0};
const batch_view<float> kDestination{address(0x2000), 6, 4, 4, 1, 0};

TEST(arguments, each_mistake_is_named_with_its_value) {
    const auto with = [](auto view, auto change) {
        change(view);
        return view;
    };
    const auto source = [&](auto change) { return refusal(with(kSource, change), kDestination); };
    const auto destination = [&](auto change) { return refusal(kSource, with(kDestination, change)); };
    EXPECT_EQ(source([](auto& v) { v.data = nullptr; }), "source.data is null");
    EXPECT_EQ(destination([](auto& v) { v.data = nullptr; }), "destination.data is null");
    EXPECT_EQ(source([](auto& v) { v.rows = -1; }), "source.rows is -1: it must not be negative");
    EXPECT_EQ(destination([](auto& v) { v.cols = -5; }),
              "destination is 6 x -5: the transpose of a source of 4 x 6 is 6 x 4");
    EXPECT_EQ(source([](auto& v) { v.ld = 5; }), "source.ld is 5: a row has 6 elements");
    EXPECT_EQ(destination([](auto& v) { v.ld = 3; }), "destination.ld is 3: a row has 4 elements");
    EXPECT_EQ(destination([](auto& v) { v.rows = 5; }),
              "destination is 5 x 4: the transpose of a source of 4 x 6 is 6 x 4");
    EXPECT_EQ(destination([](auto& v) { v.count = 2; }), "destination.count is 2: the source has 1 matrices");
    EXPECT_EQ(source([](auto& v) { v.data = address(0x1002); }),
              "source.data is 0x1002: its elements must be aligned to 4 bytes");
    EXPECT_EQ(destination([](auto& v) { v.data = address(0x2001); }),
              "destination.data is 0x2001: its elements must be aligned to 4 bytes");
    EXPECT_NE(source([](auto& v) { v.ld = kHuge; }).find("does not fit in 64 bits"), std::string::npos);
}

TEST(arguments, batches) {
    const batch_view<const float> source{address(0x10000), 4, 6, 6, 3, 24};
    EXPECT_NE(refusal(source, {address(0x20000), 6, 4, 4, 3, 23}).find("destination.stride is 23"), std::string::npos);
    EXPECT_NE(refusal(source, {address(0x20000), 6, 4, 4, 3, -1}).find("destination.stride is -1"), std::string::npos);
    EXPECT_NE(refusal({address(0x10000), 4, 6, 6, kHuge, 24}, {address(0x20000), 6, 4, 4, kHuge, 24})
                  .find("does not fit in 64 bits"),
              std::string::npos);
}

TEST(arguments, overlap) {
    // Partly; wholly but not square; wholly and square, but with another leading dimension.
    EXPECT_NE(refusal(kSource, {address(0x1010), 6, 4, 4, 1, 0}).find("overlaps"), std::string::npos);
    EXPECT_NE(refusal(kSource, {address(0x1000), 6, 4, 4, 1, 0}).find("overlaps"), std::string::npos);
    EXPECT_NE(refusal({address(0x1000), 4, 4, 4, 1, 0}, {address(0x1000), 4, 4, 5, 1, 0}).find("overlaps"),
              std::string::npos);
    // Halves of one larger matrix share no element: what stops these is the missing device or the made-up addresses.
    EXPECT_EQ(refusal({address(0x1000), 4, 4, 8, 1, 0}, {address(0x1010), 4, 4, 8, 1, 0}).find("overlaps"),
              std::string::npos);
}

TEST(arguments, plans) {
    const auto refused = [](transpose_layout layout) -> std::string {
        try {
            cuda::transpose_plan plan(layout);
        } catch (const invalid_argument& refusal) {
            return refusal.what();
        } catch (const error&) {
        }
        return "";
    };
    EXPECT_NE(refused({.rows = 1, .cols = 1, .source_ld = 1, .destination_ld = 1, .element_size = 0})
                  .find("element_size is 0"),
              std::string::npos);
    EXPECT_NE(
        refused({.rows = 1, .cols = 1, .source_ld = 1, .destination_ld = 1, .element_size = 4, .element_alignment = 3})
            .find("element_alignment is 3"),
        std::string::npos);
    EXPECT_NE(
        refused({.rows = 1, .cols = 1, .source_ld = 1, .destination_ld = 1, .element_size = 12, .element_alignment = 8})
            .find("element_alignment is 8"),
        std::string::npos);
    EXPECT_NE(
        refused({.rows = 3, .cols = 2, .source_ld = 1, .destination_ld = 3, .element_size = 4}).find("source.ld is 1"),
        std::string::npos);
}

TEST(l2_lines, are_set_for_a_thread) {
    using cuda::l2_lines;
    EXPECT_EQ(cuda::set_l2_lines(l2_lines::ordinary), l2_lines::kept);
    std::thread([] { EXPECT_EQ(cuda::set_l2_lines(l2_lines::kept), l2_lines::kept); }).join();
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_KEPT), CORNERTURN_OK);
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(static_cast<cornerturn_l2_lines>(2)), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NE(std::string(cornerturn_last_error()).find("2"), std::string::npos);
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_ORDINARY), CORNERTURN_OK);
    EXPECT_EQ(cuda::set_l2_lines(l2_lines::kept), l2_lines::ordinary);
}

TEST(arguments, nothing_to_do_needs_no_device) {
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {5, 0}, {0, 0}, {0, kHuge}}) {
        cuda::transpose(matrix_view<const float>{nullptr, rows, cols, cols},
                        matrix_view<float>{nullptr, cols, rows, rows}, nullptr);
    }
    cuda::transpose(batch_view<const float>{nullptr, 4, 4, 4, 0, 16}, batch_view<float>{nullptr, 4, 4, 4, 0, 16},
                    nullptr);
}

// ---- Copies between tensors

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const invalid_argument& refused) {
        return refused.what();
    } catch (const error& other) {
        return std::string("not refused: ") + other.what();
    }
    return "not refused";
}

TEST(copy_arguments, each_mistake_is_named_with_its_value) {
    const tensor_view<float> a{address(0x1000), {4, 5}}, b{address(0x2000), {4, 5}};
    EXPECT_EQ(refusal([&] {
                  cuda::copy(tensor_view{address(0x1000), {5, 4}}, b, nullptr);
              }),
              "destination.extent(0) is 4: the source's is 5 (extents (5, 4) and (4, 5))");
    EXPECT_EQ(refusal([&] { cuda::permute(a, {1, 1}, b, nullptr); }), "axes[1] is 1: axes[0] is the same axis");
    EXPECT_EQ(refusal([&] {
                  cuda::copy(tensor_view{address(0x1002), {4, 5}}, b, nullptr);
              }),
              "source.data is 0x1002: its elements must be aligned to 4 bytes");
    EXPECT_EQ(
        refusal([&] {
            cuda::copy(tensor_view{address(0x2010), {4, 5}}, b, nullptr);
        }),
        "destination (extents (4, 5), strides (5, 1) at 0x2000) overlaps source (extents (4, 5), strides (5, 1) at "
        "0x2010): they must not share any element");
    EXPECT_EQ(refusal([&] {
                  cuda::copy(tensor_view<float>{nullptr, {0, 5}}, tensor_view<float>{nullptr, {0, 5}}, nullptr);
              }),
              "not refused");
}

TEST(copy_arguments, nothing_is_permuted_in_place) {
    const std::string said =
        "destination (extents (6, 4, 5), strides (20, 5, 1) at 0x1000) overlaps permuted source (extents (6, 4, 5), "
        "strides (1, 30, 6) at 0x1000): copies and permutations cannot be done in place";
    const tensor_view<float> matrices{address(0x1000), {4, 5, 6}};
    EXPECT_EQ(refusal([&] {
                  cuda::permute(matrices, {2, 0, 1}, tensor_view{address(0x1000), {6, 4, 5}}, nullptr);
              }),
              said);
    const std::int64_t extents[] = {4, 5, 6};
    const int axes[] = {2, 0, 1};
    EXPECT_EQ(cornerturn_cuda_permute(3, extents, address(0x1000), nullptr, axes, address(0x1000), nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_last_error(), said);
    // Square ones, too: cuda::transpose does these in place.
    EXPECT_NE(refusal([&] {
                  const tensor_view<float> square{address(0x1000), {8, 8}};
                  cuda::permute(square, {1, 0}, square, nullptr);
              }).find(" cannot be done in place"),
              std::string::npos);
}

// Whether b has one of all the bytes of a.
bool share_by_brute_force(const lattice& a, const lattice& b) {
    std::vector<bool> touched(20'000);
    const auto any_byte = [](const lattice& l, auto f) {
        for (std::int64_t i = 0; i < l.outer.count; ++i)
            for (std::int64_t k = 0; k < l.inner.count; ++k)
                for (std::int64_t j = 0; j < l.length; ++j)
                    if (f(l.begin + static_cast<std::uintptr_t>(i * l.outer.step + k * l.inner.step + j))) return true;
        return false;
    };
    any_byte(a, [&](std::uintptr_t x) {
        touched.at(x) = true;
        return false;
    });
    return any_byte(b, [&](std::uintptr_t y) { return touched.at(y); });
}

TEST(overlap, agrees_with_looking_at_every_byte) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    int shared = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto any = [&](std::uintptr_t begin) {
            lattice l{begin, {1 + up_to(3), 0}, {1 + up_to(6), 0}, 1 + up_to(4)};
            const bool is_long = up_to(2) == 0;  // many runs, of few bytes in long steps: they interleave
            if (is_long) l = {begin, {1 + up_to(1), 0}, {1 + up_to(90), 0}, 1 + up_to(1)};
            l.inner.step = l.length + up_to(is_long ? 60 : 6);
            const bool beside = up_to(2) == 0;
            l.outer.step = l.inner_extent() + up_to(8);
            if (beside) {  // side by side: the matrices' step is the shorter one
                l.outer.step = l.length + up_to(3);
                l.inner.step = (l.outer.count - 1) * l.outer.step + l.length + up_to(5);
            }
            if (up_to(3) == 0) l.outer.step = 0;  // the same matrix again
            return l;
        };
        const lattice a = any(1000 + static_cast<std::uintptr_t>(up_to(40)));
        lattice b = any(1000 + static_cast<std::uintptr_t>(up_to(120)));
        if (up_to(3) == 0) {
            b = a;
            b.begin = 1000 + static_cast<std::uintptr_t>(up_to(120));
        }
        const bool wanted = share_by_brute_force(a, b);
        shared += wanted;
        ASSERT_EQ(share_bytes(a, b), wanted) << "round " << round << ", seed " << seed;
        ASSERT_EQ(share_bytes(b, a), wanted) << "round " << round << ", seed " << seed;
    }
    EXPECT_GT(shared, 1000);
    EXPECT_LT(shared, 19000);
}

std::string refusal(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                    const cuda::gemm_options& options = {}) {
    try {
        cuda::gemm(1, a, b, 0, c, nullptr, options);
    } catch (const invalid_argument& refused) {
        return refused.what();
    } catch (const error& other) {
        return std::string("not refused: ") + other.what();
    }
    return "not refused";
}

TEST(gemm_arguments, each_mistake_is_named_with_its_value) {
    const batch_view<const float> a{address(0x1000), 4, 6, 6, 1, 0}, b{address(0x2000), 6, 5, 5, 1, 0};
    const batch_view<float> c{address(0x3000), 4, 5, 5, 1, 0};
    const auto with = [](auto view, auto change) {
        change(view);
        return view;
    };
    const auto in_a = [&](auto change) { return refusal(with(a, change), b, c); };
    const auto in_b = [&](auto change) { return refusal(a, with(b, change), c); };
    const auto in_c = [&](auto change) { return refusal(a, b, with(c, change)); };
    EXPECT_EQ(in_a([](auto& v) { v.data = nullptr; }), "a.data is null");
    EXPECT_EQ(in_b([](auto& v) { v.data = nullptr; }), "b.data is null");
    EXPECT_EQ(in_c([](auto& v) { v.data = nullptr; }), "c.data is null");
    EXPECT_EQ(in_a([](auto& v) { v.rows = -1; }), "a.rows is -1: it must not be negative");
    EXPECT_EQ(in_b([](auto& v) { v.ld = 4; }), "b.ld is 4: a row has 5 elements");
    EXPECT_EQ(in_c([](auto& v) { v.ld = 4; }), "c.ld is 4: a row has 5 elements");
    EXPECT_EQ(in_b([](auto& v) { v.rows = 7; }), "b is 7 x 5: it must have 6 rows: a is 4 x 6");
    EXPECT_EQ(in_c([](auto& v) { v.rows = 3; }), "c is 3 x 5: the product of a, 4 x 6, and b, 6 x 5, is 4 x 5");
    EXPECT_EQ(refusal(a, b, c, {.a = cuda::op::transposed}), "b is 6 x 5: it must have 4 rows: a is 4 x 6, transposed");
    EXPECT_EQ(refusal(a, b, c, {.b = cuda::op::transposed}), "b is 6 x 5: it must have 6 columns: a is 4 x 6");
    EXPECT_EQ(in_a([](auto& v) { v.count = 2; }), "a.count is 2: c has 1 matrices");
    EXPECT_EQ(in_b([](auto& v) { v.data = address(0x2002); }),
              "b.data is 0x2002: its elements must be aligned to 4 bytes");
    EXPECT_EQ(in_c([](auto& v) { v.data = address(0x1010); }),
              "c (4 x 5 at 0x1010) overlaps a (4 x 6 at 0x1000): they must not overlap");
    EXPECT_NE(in_a([](auto& v) { v.ld = kHuge; }).find("does not fit in 64 bits"), std::string::npos);
    const batch_view<const float> as{address(0x10000), 4, 6, 6, 3, 24}, bs{address(0x20000), 6, 5, 5, 3, 0};
    EXPECT_NE(refusal(as, bs, {address(0x30000), 4, 5, 5, 3, 19}).find("c.stride is 19"), std::string::npos);
}

TEST(gemm_arguments, workspace_lies_apart) {
    const gemm_work w{.a = address(0x1000),
                      .b = address(0x2000),
                      .c = address(0x3000),
                      .m = 4,
                      .n = 5,
                      .k = 6,
                      .lda = 6,
                      .ldb = 5,
                      .ldc = 5};
    const auto refused = [&](std::uintptr_t at) -> std::string {
        try {
            product_operands(w).check_workspace_apart(at, 256);
        } catch (const invalid_argument& why) {
            return why.what();
        }
        return "";
    };
    EXPECT_EQ(refused(0x1050),
              "options.workspace (256 bytes at 0x1050) overlaps a (4 x 6 at 0x1000): they must not overlap");
    EXPECT_NE(refused(0x1f10).find("overlaps b"), std::string::npos);
    EXPECT_NE(refused(0x3000).find("overlaps c"), std::string::npos);
    EXPECT_EQ(refused(0x1060), "");
    EXPECT_EQ(refused(0x2f00), "");
}

TEST(gemm_arguments, nothing_is_done_for_nothing) {
    EXPECT_EQ(refusal({nullptr, 0, 6, 6, 1, 0}, {nullptr, 6, 5, 5, 1, 0}, {nullptr, 0, 5, 5, 1, 0}), "not refused");
    EXPECT_EQ(refusal({nullptr, 4, 6, 6, 0, 0}, {nullptr, 6, 5, 5, 0, 0}, {nullptr, 4, 5, 5, 0, 0}), "not refused");
}

}  // namespace
