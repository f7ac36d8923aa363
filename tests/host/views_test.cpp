// Views of matrices and batches: default values, views of containers and mdspans, and refusals of containers that are
// too small.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cornerturn/error.hpp"
#include "cornerturn/transpose.hpp"
#include "message.hpp"

using namespace cornerturn;

namespace {

auto sizes(const auto& m) { return std::tuple{m.rows, m.cols, m.ld}; }
auto all_sizes(const auto& b) { return std::tuple{b.rows, b.cols, b.ld, b.count, b.stride}; }

std::string refusal(auto work) {
    try {
        work();
    } catch (const invalid_argument& e) {
        return e.what();
    }
    ADD_FAILURE() << "no exception was thrown";
    return {};
}

// The part of std::mdspan that views use. mdspan_test uses a real one.
template <class T, std::size_t kAxes>
struct some_mdspan {
    using element_type = T;
    T* data;
    std::array<int, kAxes> extents, strides;

    static constexpr std::size_t rank() { return kAxes; }
    T* const& data_handle() const { return data; }  // a reference, as in libc++
    int extent(std::size_t axis) const { return extents[axis]; }
    int stride(std::size_t axis) const { return strides[axis]; }
};

TEST(views, matrices_are_packed_by_default) {
    float data[12] = {};
    EXPECT_EQ(sizes(matrix_view{data, 3, 4}), std::tuple(3, 4, 4));
    EXPECT_EQ(sizes(matrix_view{data, 2, 4, 5}), std::tuple(2, 4, 5));
    EXPECT_EQ(sizes(matrix_view<const float>{data, 3, 4}), std::tuple(3, 4, 4));
    EXPECT_EQ(sizes(matrix_view<float>()), std::tuple(0, 0, 0));
    const std::size_t rows = 3;  // integers of any type, with no cast
    const unsigned char cols = 4;
    enum { kLd = 4 };
    EXPECT_EQ(sizes(matrix_view{data, rows, cols, kLd}), std::tuple(3, 4, 4));
    EXPECT_EQ(matrix_view(data, std::numeric_limits<std::uint64_t>::max(), 1).rows, -1) << "a call refuses this";
    static_assert(std::is_trivially_copyable_v<matrix_view<float>> && std::is_trivially_copyable_v<batch_view<float>>);
    static_assert(sizeof(matrix_view<float>) == 32 && sizeof(batch_view<float>) == 48, "kernels take views by value");
}

TEST(views, batches_are_packed_by_default) {
    float data[60] = {};
    EXPECT_EQ(all_sizes(batch_view{matrix_view{data, 3, 4}, 5}), std::tuple(3, 4, 4, 5, 12));
    EXPECT_EQ(all_sizes(batch_view{matrix_view{data, 2, 4, 5}, 5, 12}), std::tuple(2, 4, 5, 5, 12));
    EXPECT_EQ(all_sizes(batch_view{data, 3, 4, 4, 5}), std::tuple(3, 4, 4, 5, 12));
    EXPECT_EQ(all_sizes(batch_view{data, 2, 4, 5, 5}), std::tuple(2, 4, 5, 5, 10));
    EXPECT_EQ(all_sizes(batch_view{data, 2, 4, 5, 5, 11}), std::tuple(2, 4, 5, 5, 11));
    const batch_view<const float> huge{matrix_view<float>{data, std::int64_t{1} << 40, std::int64_t{1} << 40}, 2};
    EXPECT_EQ(huge.stride, std::numeric_limits<std::int64_t>::max()) << "a call refuses this";
}

TEST(views, of_containers) {
    std::vector<float> numbers(12);
    std::array<double, 12> array{};
    const std::vector<int> constant(12);
    const std::span<float> part(numbers.data() + 1, 8);
    matrix_view from_vector{numbers, 3, 4};
    static_assert(std::is_same_v<decltype(from_vector), matrix_view<float>>);
    EXPECT_EQ(from_vector.data, numbers.data());
    EXPECT_EQ(sizes(from_vector), std::tuple(3, 4, 4));
    static_assert(std::is_same_v<decltype(matrix_view{array, 2, 4, 6}), matrix_view<double>>);
    EXPECT_EQ(sizes(matrix_view{array, 2, 4, 6}), std::tuple(2, 4, 6));
    static_assert(std::is_same_v<decltype(matrix_view{constant, 2, 6}), matrix_view<const int>>);
    EXPECT_EQ((matrix_view{part, 2, 4}.data), part.data());
    EXPECT_EQ((matrix_view<const float>{numbers, 3, 4}.data), numbers.data());
    EXPECT_EQ(all_sizes(batch_view{numbers, 2, 2, 2, 3}), std::tuple(2, 2, 2, 3, 4));
    EXPECT_EQ(all_sizes(batch_view{numbers, 2, 2, 6, 3, 2}), std::tuple(2, 2, 6, 3, 2));
    EXPECT_NO_THROW((matrix_view{part, 2, 3, 5})) << "the last row needs no gap";

    EXPECT_NAMES(refusal([&] { matrix_view{part, 3, 3}; }), "elements.size()", 8, "3 x 3", 3, 9);
    const auto make_large_batch = [&] { batch_view{numbers, 2, 2, 2, 4}; };
    EXPECT_NAMES(refusal(make_large_batch), "elements.size()", 12, 4, "2 x 2", 2, 4, 16);
    EXPECT_NAMES(refusal([&] { matrix_view{numbers, -3, 4}; }), "view.rows", -3);
    EXPECT_NAMES(refusal([&] { matrix_view{numbers, 3, 4, 3}; }), "view.ld", 3, 4);
    const std::int64_t rows = std::int64_t{1} << 62;
    const auto make_huge_matrix = [&] { matrix_view{numbers, rows, 4}; };
    EXPECT_NAMES(refusal(make_huge_matrix), "view", rows, 4, 4, 64);
    // A container with only data() and size(), and a temporary one.
    struct {
        double* at;
        double* data() const { return at; }
        int size() const { return 12; }
    } plain{array.data()};
    static_assert(std::is_same_v<decltype(matrix_view{plain, 3, 4}), matrix_view<double>>);
    EXPECT_EQ((matrix_view{plain, 3, 4}.data), array.data());
    static_assert(std::is_same_v<decltype(matrix_view{std::vector<float>(12), 3, 4}), matrix_view<const float>>);
    const std::vector<float> none;
    EXPECT_NO_THROW((matrix_view{none, 0, 5}));
}

TEST(views, of_mdspans) {
    std::vector<int> numbers(60);
    const some_mdspan<int, 2> plain{numbers.data(), {3, 4}, {4, 1}}, padded{numbers.data(), {3, 4}, {6, 1}};
    static_assert(std::is_same_v<decltype(matrix_view{plain}), matrix_view<int>>);
    EXPECT_EQ(matrix_view{plain}.data, numbers.data());
    EXPECT_EQ(sizes(matrix_view{plain}), std::tuple(3, 4, 4));
    EXPECT_EQ(sizes(matrix_view<const int>{padded}), std::tuple(3, 4, 6));
    EXPECT_EQ(sizes(matrix_view{some_mdspan<const int, 2>{numbers.data(), {1, 4}, {0, 1}}}), std::tuple(1, 4, 4));
    EXPECT_EQ(sizes(matrix_view{some_mdspan<int, 2>{numbers.data(), {4, 1}, {7, 9}}}), std::tuple(4, 1, 7));
    EXPECT_EQ(all_sizes(batch_view{some_mdspan<int, 3>{numbers.data(), {5, 3, 4}, {12, 4, 1}}}),
              std::tuple(3, 4, 4, 5, 12));
    const auto view_column_major = [&] { matrix_view{some_mdspan<int, 2>{numbers.data(), {3, 4}, {1, 3}}}; };
    EXPECT_NAMES(refusal(view_column_major), "mdspan", 3, 1);
    EXPECT_EQ(sizes(matrix_view{some_mdspan<int, 2>{numbers.data(), {0, 5}, {1, 0}}}), std::tuple(0, 5, 5)) << "empty";
    static_assert(!std::is_constructible_v<matrix_view<int>, some_mdspan<int, 3>> &&
                  !std::is_constructible_v<matrix_view<int>, some_mdspan<const int, 2>> &&
                  !std::is_constructible_v<matrix_view<int>, some_mdspan<float, 2>>);
}

TEST(views, short_calls_transpose) {
    std::vector<int> in(3 * 4 * 5), out(in.size());
    std::iota(in.begin(), in.end(), 0);
    const auto require_transposed = [&](std::int64_t rows, std::int64_t cols, std::int64_t count) {
        for (std::int64_t i = 0; i < count * rows * cols; ++i) {
            const std::int64_t matrix = i / (rows * cols), row = i / cols % rows, col = i % cols;
            ASSERT_EQ(out[static_cast<std::size_t>(matrix * rows * cols + col * rows + row)], i);
        }
        std::fill(out.begin(), out.end(), -1);
    };
    transpose(matrix_view{in, 6, 10}, matrix_view{out, 10, 6});
    require_transposed(6, 10, 1);
    transpose({in, 6, 10}, matrix_view{out, 10, 6}, {.threads = 1});
    require_transposed(6, 10, 1);
    transpose(matrix_view{in.data(), 6, 10}, matrix_view{out.data(), 10, 6});
    require_transposed(6, 10, 1);
    transpose(batch_view{matrix_view{in, 3, 4}, 5}, batch_view{matrix_view{out, 4, 3}, 5});
    require_transposed(3, 4, 5);
    transpose(batch_view{some_mdspan<int, 3>{in.data(), {5, 3, 4}, {12, 4, 1}}}, batch_view{out, 4, 3, 3, 5});
    require_transposed(3, 4, 5);
    // Column-major, 6 x 10 into 10 x 6: the source has element (row, col) at col * 6 + row, the destination at
    // row * 10 + col.
    transpose(matrix_view{in, 10, 6}, matrix_view{out, 6, 10});
    for (std::size_t row = 0; row < 6; ++row) {
        for (std::size_t col = 0; col < 10; ++col) ASSERT_EQ(out[row * 10 + col], in[col * 6 + row]);
    }
}

}  // namespace
