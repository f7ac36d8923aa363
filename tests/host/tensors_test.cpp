// Views of tensors, refusals of wrong arguments, and the canonical form of copies.
#include "core/tensors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "cornerturn/error.hpp"
#include "cornerturn/tensor_view.hpp"
#include "message.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;
using detail::any_tensor;
using detail::axis_list;

namespace {

// "invalid: <message>" or "unsupported: <message>" for an exception; empty if none is thrown.
template <class F>
std::string refused(F f) {
    try {
        f();
    } catch (const invalid_argument& e) {
        return std::string("invalid: ") + e.what();
    } catch (const unsupported& e) {
        return std::string("unsupported: ") + e.what();
    }
    return {};
}

template <class Source, class Destination>
std::string check(const Source& source, const Destination& destination) {
    return refused([&] {
        check_tensors(source.any(), destination.any(), 4, 4);
        if (is_empty(source.any())) return;
        const strided_copy c = canonical(source.any(), destination.any(), 4);
        if (!is_same(c)) check_tensor_addresses(source.any(), destination.any(), 4, c);
    });
}

std::vector<std::int64_t> numbers(const axis_list& list) {
    return {list.values.begin(), list.values.begin() + list.size()};
}

TEST(tensor_view, is_made_of_pointers_containers_and_other_views) {
    std::vector<float> room(120);
    const tensor_view packed{room.data(), {4, 5, 6}};
    static_assert(std::is_same_v<decltype(packed), const tensor_view<float>>);
    EXPECT_EQ(packed.rank(), 3);
    EXPECT_EQ(packed.extent(1), 5);
    EXPECT_EQ(numbers(packed.any().strides), (std::vector<std::int64_t>{30, 6, 1}));
    const tensor_view strided{room.data() + 119, {4, 5, 6}, {-30, -6, -1}};
    EXPECT_EQ(strided.stride(0), -30);
    const std::array<int, 2> extents{10, 12};
    const tensor_view held{room, extents};
    EXPECT_EQ(held.data(), room.data());
    EXPECT_EQ(held.stride(0), 12);
    const tensor_view<float> of_matrix = matrix_view{room.data(), 3, 4, 10};
    EXPECT_EQ(of_matrix.stride(0), 10);
    const tensor_view<float> of_batch = batch_view{matrix_view{room.data(), 3, 4}, 5};
    EXPECT_EQ(of_batch.extent(0), 5);
    EXPECT_EQ(of_batch.stride(0), 12);
    const tensor_view<const float> read = packed;
    EXPECT_EQ(read.data(), room.data());
    const tensor_view one{room.data(), {}};
    EXPECT_EQ(one.rank(), 0);
    const auto view_too_much = [&] { tensor_view{room, {11, 11}}; };
    EXPECT_NAMES(refused(view_too_much), "invalid", "elements.size()", 120, "(11, 11)", 121);
    EXPECT_EQ(refused([&] { tensor_view{room, {11, 0, 999}}; }), "");
    EXPECT_NAMES(refused([&] { tensor_view{room, {11, -2}}; }), "invalid", "view.extent(1)", -2);
}

TEST(tensors, invalid_arguments_are_refused) {
    std::vector<float> a(1000), b(1000);
    const auto from = [&](axis_list n, axis_list s) { return tensor_view<const float>{a.data(), n, s}; };
    const auto to = [&](axis_list n, axis_list s) { return tensor_view<float>{b.data(), n, s}; };
    EXPECT_EQ(check(from({2, 3}, {3, 1}), to({2, 3}, {3, 1})), "");
    EXPECT_NAMES(check(from({2, 3}, {3, 1}), to({2, 3, 1}, {3, 1, 1})), "invalid", "destination.rank()", 3, 2);
    EXPECT_NAMES(check(from({2, 3}, {3, 1}), to({3, 2}, {2, 1})), "invalid", "destination.extent(0)", 3, 2, "(2, 3)",
                 "(3, 2)");
    EXPECT_NAMES(check(from({2, 3}, {3}), to({2, 3}, {3, 1})), "invalid", "strides", "source", 1, 2);
    EXPECT_NAMES(check(from({2, -3}, {3, 1}), to({2, -3}, {3, 1})), "invalid", "source.extent(1)", -3);
    EXPECT_NAMES(check(from({2, 3}, {0, 1}), to({2, 3}, {0, 1})), "invalid", "destination.stride(0)", 0, 2);
    EXPECT_EQ(check(from({2, 3}, {0, 1}), to({2, 3}, {3, 1})), "");
    EXPECT_NAMES(check(from({4, 5}, {5, 1}), to({4, 5}, {2, 3})), "invalid", "destination.stride(0)", 2,
                 "destination.stride(1)", 3, 4, 5);
    EXPECT_EQ(check(from({2, 5}, {5, 1}), to({2, 5}, {3, 2})), "") << "0, 2, 4, 6, 8 and 3, 5, 7, 9, 11";
    EXPECT_NAMES(check(from({3, 3, 3}, {9, 3, 1}), to({3, 3, 3}, {1, 4, 6})), "unsupported", "destination.stride(1)", 4,
                 "destination.stride(2)", 6, 3, 3);
    const auto check_33_axes = [] {
        const axis_list n(std::vector<int>(33, 1));
        check_tensors({0, n, n}, {0, n, n}, 4, 4);
    };
    EXPECT_NAMES(refused(check_33_axes), "invalid", "source.rank()", 33, 32);
    const std::int64_t huge = std::int64_t{1} << 40;
    EXPECT_NAMES(check(from({huge, huge}, {huge, 1}), to({huge, huge}, {huge, 1})), "invalid", "source",
                 "(1099511627776, 1099511627776)", "(1099511627776, 1)", 4, 64);
    EXPECT_NAMES(check(tensor_view<const float>{nullptr, {2}}, to({2}, {1})), "invalid", "source.data", "null");
    EXPECT_EQ(check(tensor_view<const float>{nullptr, {0, 7}}, tensor_view<float>{nullptr, {0, 7}}), "");
    EXPECT_NAMES(check(tensor_view<const float>{a.data(), {5}}, tensor_view<float>{a.data() + 2, {5}}), "invalid",
                 "destination", "(5)", "(1)", a.data() + 2, "source", "(5)", "(1)", a.data());
    EXPECT_EQ(check(tensor_view<const float>{a.data(), {5}}, tensor_view<float>{a.data(), {5}}), "") << "itself";
    // Slices of one larger tensor. The check takes no time, however many elements there are.
    const std::int64_t many = std::int64_t{1} << 40;
    EXPECT_EQ(check(tensor_view<const float>{a.data(), {many}, {2}}, tensor_view<float>{a.data() + 1, {many}, {2}}),
              "");
    EXPECT_EQ(check(tensor_view<const float>{a.data(), {1 << 20, 1 << 20}, {1 << 21, 2}},
                    tensor_view<float>{a.data() + 1, {1 << 20, 1 << 20}, {2, 1 << 21}}),
              "");
    EXPECT_EQ(check(from({1}, {INT64_MIN}), to({1}, {INT64_MIN})), "") << "an extent of 1 makes its stride irrelevant";
    EXPECT_EQ(check(tensor_view<const float>{a.data(), {2, 3, 4, 5}, {400, 100, 20, 2}},
                    tensor_view<float>{a.data() + 10, {2, 3, 4, 5}, {400, 100, 20, 2}}),
              "");
}

TEST(tensors, axes_of_a_permutation) {
    const axis_list n{2, 3, 4}, s{12, 4, 1};
    const any_tensor source{0, n, s};
    const permuted_tensor p(source, {2, 0, -2});
    EXPECT_EQ(numbers(p.extents), (std::vector<std::int64_t>{4, 2, 3}));
    EXPECT_EQ(numbers(p.strides), (std::vector<std::int64_t>{1, 12, 4}));
    const auto refused_axes = [&](const axis_list& axes) { return refused([&] { permuted_tensor(source, axes); }); };
    EXPECT_NAMES(refused_axes({0, 1}), "invalid", "axes", 2, 3, "source");
    EXPECT_NAMES(refused_axes({0, 1, 3}), "invalid", "axes[2]", 3, 3, -3, 2);
    EXPECT_NAMES(refused_axes({0, 2, -1}), "invalid", "axes[2]", -1, "axes[1]");
}

// If source and destination have the same address, a copy to itself needs no work and everything else is refused.
TEST(tensors, nothing_is_permuted_in_place) {
    std::vector<float> room(6);
    const auto permuted = [&](const axis_list& axes, const axis_list& to) {
        const tensor_view<const float> source{room.data(), {2, 3}};
        const permuted_tensor p(source.any(), axes);
        return check(tensor_view<const float>{room.data(), p.extents, p.strides}, tensor_view<float>{room.data(), to});
    };
    EXPECT_EQ(permuted({0, 1}, {2, 3}), "") << "itself";
    EXPECT_NAMES(permuted({1, 0}, {3, 2}), "invalid", "destination", "(3, 2)", "(2, 1)", room.data(), "source",
                 "(3, 2)", "(1, 3)", room.data());

    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    int refusals = 0;
    for (int round = 0; round < 2000; ++round) {
        axis_list n, s, axes;
        std::vector<int> order(1 + random() % 6);
        std::iota(order.begin(), order.end(), 0);
        std::int64_t step = 1;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto extent = static_cast<std::int64_t>(1 + random() % 4);
            n.add(extent);
            s.add(random() % 4 == 0 ? -step : step);
            step = step * extent + static_cast<std::int64_t>(random() % 3);
        }
        std::shuffle(order.begin(), order.end(), random);
        for (int axis : order) axes.add(axis);
        const any_tensor source{1 << 20, n, s};
        const permuted_tensor p(source, axes);
        const axis_list to = random() % 2 == 0 ? detail::packed_strides(p.extents) : p.strides;
        const any_tensor from{1 << 20, p.extents, p.strides}, destination{1 << 20, p.extents, to};
        const std::string found = refused([&] {
            check_tensors(from, destination, 4, 4);
            check_tensor_addresses(from, destination, 4, canonical(from, destination, 4));
        });
        bool same = true;
        for (int i = 0; i < to.size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            same = same && (p.extents.values[at] == 1 || p.strides.values[at] == to.values[at]);
        }
        refusals += !same;
        ASSERT_EQ(found.empty(), same) << found << ", seed " << seed;
        ASSERT_TRUE(same || tests::names(found, "invalid", "destination", "0x100000", "source", "0x100000")) << found;
    }
    EXPECT_GT(refusals, 500);
}

TEST(tensors, canonical_form) {
    const auto form = [](std::vector<int> extents, std::vector<int> from, std::vector<int> to, std::int64_t size) {
        const axis_list n(extents), s(from), d(to);
        return canonical(any_tensor{1 << 20, n, s}, any_tensor{2 << 20, n, d}, size);
    };
    // A packed copy is one run.
    const strided_copy run = form({2, 3, 4}, {12, 4, 1}, {12, 4, 1}, 8);
    EXPECT_EQ(run.rank, 0);
    EXPECT_EQ(run.run, 192);
    EXPECT_EQ(run.unit(), 16);
    // NCHW to NHWC: H and W are one axis, N another.
    const strided_copy nhwc = form({32, 7, 7, 6}, {294, 7, 1, 49}, {294, 42, 6, 1}, 2);
    ASSERT_EQ(nhwc.rank, 3);
    EXPECT_EQ(nhwc.axes[0], (strided_axis{6, 98, 2}));
    EXPECT_EQ(nhwc.axes[1], (strided_axis{49, 2, 12}));
    EXPECT_EQ(nhwc.run, 2);
    EXPECT_EQ(nhwc.unit(), 2);
    // Two reversed sides become two forward sides, and axes of extent 1 are dropped.
    const strided_copy back = form({1, 9}, {77, -1}, {3, -1}, 4);
    EXPECT_EQ(back.rank, 0);
    EXPECT_EQ(back.run, 36);
    EXPECT_EQ(back.source, (1u << 20) - 32u);
    const strided_copy reversed = form({9}, {-1}, {1}, 4);
    ASSERT_EQ(reversed.rank, 1);
    EXPECT_EQ(reversed.axes[0], (strided_axis{9, -4, 4}));
    EXPECT_EQ(reversed.source_begin(), (1u << 20) - 32u);
    EXPECT_EQ(reversed.source_end(), (1u << 20) + 4u);
    EXPECT_TRUE(form({3, 0}, {1, 1}, {1, 1}, 4).is_empty());
}

// Compares the check's answer for random strides with the actual addresses of all elements.
TEST(tensors, random_overlaps_are_detected) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    int decided = 0, undecided = 0, overlapping = 0;
    for (int round = 0; round < 20000; ++round) {
        axis_list n, s, d;
        const std::int64_t rank = up_to(4);
        for (std::int64_t i = 0; i < rank; ++i) {
            n.add(1 + up_to(4));
            s.add(up_to(40) - 20);
            d.add(up_to(60) - 30);
        }
        const auto bytes_of = [&](std::uintptr_t data, const axis_list& strides, bool& twice) {
            std::set<std::uintptr_t> all;
            tests::strided_problem p;
            p.extents = numbers(n);
            p.source_strides = p.destination_strides = numbers(strides);
            p.source_at = static_cast<std::int64_t>(data);
            p.each_element(
                [&](std::int64_t at, std::int64_t) { twice |= !all.insert(static_cast<std::uintptr_t>(at)).second; });
            return all;
        };
        const std::uintptr_t at = 1000, to = 1000 + static_cast<std::uintptr_t>(up_to(100));
        bool twice = false, unused = false;
        const auto written = bytes_of(to, d, twice), read = bytes_of(at, s, unused);
        bool shared = false;
        for (std::uintptr_t b : written) shared |= read.contains(b);
        const any_tensor source{at, n, s}, destination{to, n, d};
        const std::string about = "seed " + std::to_string(seed) + ", round " + std::to_string(round);
        const std::string inside = refused([&] { check_tensors(source, destination, 1, 1); });
        if (inside.empty()) {
            ASSERT_FALSE(twice) << about;
        }
        if (inside.starts_with("invalid")) {
            ASSERT_TRUE(twice) << about << ": " << inside;
        }
        if (!inside.empty()) continue;
        const strided_copy c = canonical(source, destination, 1);
        if (is_same(c)) continue;
        const std::string between = refused([&] { check_tensor_addresses(source, destination, 1, c); });
        if (between.empty()) {
            ASSERT_FALSE(shared) << about;
        }
        if (between.starts_with("invalid")) {
            ASSERT_TRUE(shared) << about << ": " << between;
        }
        ++(between.starts_with("unsupported") ? undecided : between.empty() ? decided : overlapping);
    }
    std::printf("%d separate, %d overlap, %d undecided\n", decided, overlapping, undecided);
    EXPECT_GT(decided, 500);
    EXPECT_GT(overlapping, 500);
}

}  // namespace
