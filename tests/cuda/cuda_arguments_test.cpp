// The arguments that cornerturn::cuda::transpose, copy, permute and gemm refuse before they look for a device. So this
// test needs no GPU.
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
#include "message.hpp"
#include "ops/gemm/kernels/arguments.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

float* address(std::uintptr_t value) { return reinterpret_cast<float*>(value); }

constexpr const char* kNotRefused = "not refused";

// The message of the invalid_argument that the call throws, or kNotRefused. Other exceptions pass, so the test fails.
std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const invalid_argument& refused) {
        return refused.what();
    }
    return kNotRefused;
}

std::string refusal(batch_view<const float> source, batch_view<float> destination) {
    return refusal([&] { cuda::transpose(source, destination, nullptr); });
}

const batch_view<const float> kSource{address(0x1000), 4, 6, 6, 1, 0};
const batch_view<float> kDestination{address(0x2000), 6, 4, 4, 1, 0};

TEST(arguments, message_names_argument_and_value) {
    const auto with = [](auto view, auto change) {
        change(view);
        return view;
    };
    const auto source = [&](auto change) { return refusal(with(kSource, change), kDestination); };
    const auto destination = [&](auto change) { return refusal(kSource, with(kDestination, change)); };
    EXPECT_NAMES(source([](auto& v) { v.data = nullptr; }), "source.data", "null");
    EXPECT_NAMES(destination([](auto& v) { v.data = nullptr; }), "destination.data", "null");
    EXPECT_NAMES(source([](auto& v) { v.rows = -1; }), "source.rows", -1);
    EXPECT_NAMES(destination([](auto& v) { v.cols = -5; }), "destination", "6 x -5", "6 x 4", "4 x 6");
    EXPECT_NAMES(source([](auto& v) { v.ld = 5; }), "source.ld", 5, 6);
    EXPECT_NAMES(destination([](auto& v) { v.ld = 3; }), "destination.ld", 3, 4);
    EXPECT_NAMES(destination([](auto& v) { v.rows = 5; }), "destination", "5 x 4", "6 x 4", "4 x 6");
    EXPECT_NAMES(destination([](auto& v) { v.count = 2; }), "destination.count", 2, 1);
    EXPECT_NAMES(source([](auto& v) { v.data = address(0x1002); }), "source.data", "0x1002", 4);
    EXPECT_NAMES(destination([](auto& v) { v.data = address(0x2001); }), "destination.data", "0x2001", 4);
    EXPECT_NAMES(source([](auto& v) { v.ld = kHuge; }), "source", "4 x 6", kHuge, 64);
}

TEST(arguments, batches) {
    const batch_view<const float> source{address(0x10000), 4, 6, 6, 3, 24};
    EXPECT_NAMES(refusal(source, {address(0x20000), 6, 4, 4, 3, 23}), "destination.stride", 23);
    EXPECT_NAMES(refusal(source, {address(0x20000), 6, 4, 4, 3, -1}), "destination.stride", -1);
    EXPECT_NAMES(refusal({address(0x10000), 4, 6, 6, kHuge, 24}, {address(0x20000), 6, 4, 4, kHuge, 24}), "source",
                 kHuge, "4 x 6", 64);
}

TEST(arguments, overlap) {
    // Partly; wholly but not square; wholly and square, but with another leading dimension.
    EXPECT_NAMES(refusal(kSource, {address(0x1010), 6, 4, 4, 1, 0}), "destination", "0x1010", "source", "0x1000");
    EXPECT_NAMES(refusal(kSource, {address(0x1000), 6, 4, 4, 1, 0}), "destination", "0x1000", "source", "0x1000");
    EXPECT_NAMES(refusal({address(0x1000), 4, 4, 4, 1, 0}, {address(0x1000), 4, 4, 5, 1, 0}), "destination", "0x1000",
                 "source", "0x1000");
    // Halves of one larger matrix share no element. The call fails all the same, because there is no device or because
    // no memory has these addresses. But no such message names both addresses.
    try {
        const std::string other = refusal({address(0x1000), 4, 4, 8, 1, 0}, {address(0x1010), 4, 4, 8, 1, 0});
        EXPECT_FALSE(tests::names(other, "0x1000") && tests::names(other, "0x1010")) << other;
    } catch (const cuda_error&) {
    }
}

TEST(arguments, plans) {
    const auto refused = [](const transpose_layout& layout) {
        return refusal([&] { cuda::transpose_plan plan(layout); });
    };
    const transpose_layout one{.rows = 1, .cols = 1, .source_ld = 1, .destination_ld = 1, .element_size = 4};
    transpose_layout empty_elements = one, alignment_of_3 = one, too_aligned = one;
    empty_elements.element_size = 0;
    alignment_of_3.element_alignment = 3;
    too_aligned.element_size = 12, too_aligned.element_alignment = 8;
    EXPECT_NAMES(refused(empty_elements), "element_size", 0);
    EXPECT_NAMES(refused(alignment_of_3), "element_alignment", 3, 4);
    EXPECT_NAMES(refused(too_aligned), "element_alignment", 8, 12);
    EXPECT_NAMES(refused({.rows = 3, .cols = 2, .source_ld = 1, .destination_ld = 3, .element_size = 4}), "source.ld",
                 1, 2);
}

TEST(l2_lines, are_set_for_each_thread) {
    using cuda::l2_lines;
    EXPECT_EQ(cuda::set_l2_lines(l2_lines::ordinary), l2_lines::kept);
    std::thread([] { EXPECT_EQ(cuda::set_l2_lines(l2_lines::kept), l2_lines::kept); }).join();
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_KEPT), CORNERTURN_OK);
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(static_cast<cornerturn_l2_lines>(2)), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "lines", 2);
    EXPECT_EQ(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_ORDINARY), CORNERTURN_OK);
    EXPECT_EQ(cuda::set_l2_lines(l2_lines::kept), l2_lines::ordinary);
}

TEST(arguments, empty_matrices_need_no_device) {
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {5, 0}, {0, 0}, {0, kHuge}}) {
        cuda::transpose(matrix_view<const float>{nullptr, rows, cols, cols},
                        matrix_view<float>{nullptr, cols, rows, rows}, nullptr);
    }
    cuda::transpose(batch_view<const float>{nullptr, 4, 4, 4, 0, 16}, batch_view<float>{nullptr, 4, 4, 4, 0, 16},
                    nullptr);
}

// ---- Copies between tensors

TEST(copy_arguments, message_names_argument_and_value) {
    const tensor_view<float> a{address(0x1000), {4, 5}}, b{address(0x2000), {4, 5}};
    const auto copied_to_b = [&](const tensor_view<float>& source) {
        return refusal([&] { cuda::copy(source, b, nullptr); });
    };
    EXPECT_NAMES(copied_to_b({address(0x1000), {5, 4}}), "destination.extent(0)", 4, 5, "(5, 4)", "(4, 5)");
    EXPECT_NAMES(refusal([&] { cuda::permute(a, {1, 1}, b, nullptr); }), "axes[1]", 1, "axes[0]");
    EXPECT_NAMES(copied_to_b({address(0x1002), {4, 5}}), "source.data", "0x1002", 4);
    EXPECT_NAMES(copied_to_b({address(0x2010), {4, 5}}), "destination", "(4, 5)", "(5, 1)", "0x2000", "source",
                 "(4, 5)", "(5, 1)", "0x2010");
    EXPECT_EQ(refusal([&] {
                  cuda::copy(tensor_view<float>{nullptr, {0, 5}}, tensor_view<float>{nullptr, {0, 5}}, nullptr);
              }),
              kNotRefused);
}

TEST(copy_arguments, permutations_in_place_are_refused) {
    const tensor_view<float> matrices{address(0x1000), {4, 5, 6}};
    const std::string message = refusal([&] {
        cuda::permute(matrices, {2, 0, 1}, tensor_view{address(0x1000), {6, 4, 5}}, nullptr);
    });
    EXPECT_NAMES(message, "destination", "(6, 4, 5)", "(20, 5, 1)", "0x1000", "source", "(6, 4, 5)", "(1, 30, 6)",
                 "0x1000");
    const std::int64_t extents[] = {4, 5, 6};
    const int axes[] = {2, 0, 1};
    EXPECT_EQ(cornerturn_cuda_permute(3, extents, address(0x1000), nullptr, axes, address(0x1000), nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_last_error(), message);
    // Square matrices, too. Only cuda::transpose works in place.
    EXPECT_NAMES(refusal([&] {
                     const tensor_view<float> square{address(0x1000), {8, 8}};
                     cuda::permute(square, {1, 0}, square, nullptr);
                 }),
                 "destination", "(8, 1)", "0x1000", "source", "(1, 8)", "0x1000");
}

// Whether a and b have a byte in common.
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

TEST(overlap, agrees_with_brute_force) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    int shared = 0;
    for (int round = 0; round < 20000; ++round) {
        const auto any = [&](std::uintptr_t begin) {
            lattice l{begin, {1 + up_to(3), 0}, {1 + up_to(6), 0}, 1 + up_to(4)};
            const bool is_long = up_to(2) == 0;  // many short runs with long steps: they interleave
            if (is_long) l = {begin, {1 + up_to(1), 0}, {1 + up_to(90), 0}, 1 + up_to(1)};
            l.inner.step = l.length + up_to(is_long ? 60 : 6);
            const bool beside = up_to(2) == 0;
            l.outer.step = l.inner_extent() + up_to(8);
            if (beside) {  // side by side: the step between matrices is the shorter one
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
        const bool expected = share_by_brute_force(a, b);
        shared += expected;
        ASSERT_EQ(share_bytes(a, b), expected) << "round " << round << ", seed " << seed;
        ASSERT_EQ(share_bytes(b, a), expected) << "round " << round << ", seed " << seed;
    }
    EXPECT_GT(shared, 1000);
    EXPECT_LT(shared, 19000);
}

std::string refusal(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                    const cuda::gemm_options& options = {}) {
    return refusal([&] { cuda::gemm(1, a, b, 0, c, nullptr, options); });
}

TEST(gemm_arguments, message_names_argument_and_value) {
    const batch_view<const float> a{address(0x1000), 4, 6, 6, 1, 0}, b{address(0x2000), 6, 5, 5, 1, 0};
    const batch_view<float> c{address(0x3000), 4, 5, 5, 1, 0};
    const auto with = [](auto view, auto change) {
        change(view);
        return view;
    };
    const auto in_a = [&](auto change) { return refusal(with(a, change), b, c); };
    const auto in_b = [&](auto change) { return refusal(a, with(b, change), c); };
    const auto in_c = [&](auto change) { return refusal(a, b, with(c, change)); };
    EXPECT_NAMES(in_a([](auto& v) { v.data = nullptr; }), "a.data", "null");
    EXPECT_NAMES(in_b([](auto& v) { v.data = nullptr; }), "b.data", "null");
    EXPECT_NAMES(in_c([](auto& v) { v.data = nullptr; }), "c.data", "null");
    EXPECT_NAMES(in_a([](auto& v) { v.rows = -1; }), "a.rows", -1);
    EXPECT_NAMES(in_b([](auto& v) { v.ld = 4; }), "b.ld", 4, 5);
    EXPECT_NAMES(in_c([](auto& v) { v.ld = 4; }), "c.ld", 4, 5);
    EXPECT_NAMES(in_b([](auto& v) { v.rows = 7; }), "b", "7 x 5", 6, "a", "4 x 6");
    EXPECT_NAMES(in_c([](auto& v) { v.rows = 3; }), "c", "3 x 5", "a", "4 x 6", "b", "6 x 5", "4 x 5");
    EXPECT_NAMES(refusal(a, b, c, {.a = cuda::op::transposed}), "b", "6 x 5", 4, "a", "4 x 6");
    EXPECT_NAMES(refusal(a, b, c, {.b = cuda::op::transposed}), "b", "6 x 5", 6, "a", "4 x 6");
    EXPECT_NAMES(in_a([](auto& v) { v.count = 2; }), "a.count", 2, 1);
    EXPECT_NAMES(in_b([](auto& v) { v.data = address(0x2002); }), "b.data", "0x2002", 4);
    EXPECT_NAMES(in_c([](auto& v) { v.data = address(0x1010); }), "c", "4 x 5", "0x1010", "a", "4 x 6", "0x1000");
    EXPECT_NAMES(in_a([](auto& v) { v.ld = kHuge; }), "a", "4 x 6", kHuge, 64);
    const batch_view<const float> as{address(0x10000), 4, 6, 6, 3, 24}, bs{address(0x20000), 6, 5, 5, 3, 0};
    EXPECT_NAMES(refusal(as, bs, {address(0x30000), 4, 5, 5, 3, 19}), "c.stride", 19);
}

TEST(gemm_arguments, workspace_that_overlaps_is_refused) {
    const gemm_work w{.a = address(0x1000),
                      .b = address(0x2000),
                      .c = address(0x3000),
                      .m = 4,
                      .n = 5,
                      .k = 6,
                      .lda = 6,
                      .ldb = 5,
                      .ldc = 5};
    const auto refused = [&](std::uintptr_t at) {
        return refusal([&] { product_operands(w).check_workspace_apart(at, 256); });
    };
    EXPECT_NAMES(refused(0x1050), "options.workspace", 256, "0x1050", "a", "4 x 6", "0x1000");
    EXPECT_NAMES(refused(0x1f10), "options.workspace", "0x1f10", "b", "0x2000");
    EXPECT_NAMES(refused(0x3000), "options.workspace", "0x3000", "c", "0x3000");
    EXPECT_EQ(refused(0x1060), kNotRefused);
    EXPECT_EQ(refused(0x2f00), kNotRefused);
}

TEST(gemm_arguments, empty_products_need_no_device) {
    EXPECT_EQ(refusal({nullptr, 0, 6, 6, 1, 0}, {nullptr, 6, 5, 5, 1, 0}, {nullptr, 0, 5, 5, 1, 0}), kNotRefused);
    EXPECT_EQ(refusal({nullptr, 4, 6, 6, 0, 0}, {nullptr, 6, 5, 5, 0, 0}, {nullptr, 4, 5, 5, 0, 0}), kNotRefused);
}

}  // namespace
