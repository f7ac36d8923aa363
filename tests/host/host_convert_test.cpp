// Conversions in host memory: random tensors, all values of narrow types, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "conversion_problems.hpp"
#include "cornerturn/convert.h"
#include "cornerturn/convert.hpp"
#include "sanitized.hpp"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

using namespace cornerturn;

namespace {

std::uint64_t new_seed() {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

TEST(host_convert, random_tensors) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < (tests::kSanitized ? 300 : 3000); ++round) {
        const tests::conversion_problem p = tests::draw_conversion(random, round % 16 == 0 ? 1 << 19 : 1 << 14);
        const tests::conversion_case of(p, seed + static_cast<unsigned>(round));
        // The buffers begin at multiples of 8 bytes.
        std::vector<std::uint64_t> source(of.source().size() / 8 + 1), destination(of.destination().size() / 8 + 1);
        std::memcpy(source.data(), of.source().data(), of.source().size());
        std::memcpy(destination.data(), of.destination().data(), of.destination().size());
        const std::vector<unsigned char> scales = of.scales(), biases = of.biases();
        const conversion how = of.how(scales.data(), biases.data());
        const int threads = static_cast<int>(random() % 3);
        of.with(source.data(), destination.data(),
                [&](const detail::typed_tensor& from, const detail::typed_tensor& to) {
                    detail::convert(from, detail::same_order(from.tensor.extents), to, how, {.threads = threads});
                });
        ASSERT_EQ(of.wrong_in(reinterpret_cast<const unsigned char*>(destination.data())), "")
            << "seed " << seed << ", round " << round << ": " << p.text();
    }
}

// Large enough to be streamed past the caches.
TEST(host_convert, large_tensors) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 4; ++round) {
        const std::int64_t n = 3 + static_cast<std::int64_t>(random() % 3),
                           pixels = 4'000'000 / n + static_cast<std::int64_t>(random() % 999);
        std::vector<std::uint8_t> image(static_cast<std::size_t>(n * pixels));
        for (auto& x : image) x = static_cast<std::uint8_t>(random());
        std::vector<float> planes(image.size()), scales, biases;
        for (int i = 0; i < n; ++i)
            scales.push_back(0.5f + static_cast<float>(i)), biases.push_back(static_cast<float>(i) / 3);
        convert(tensor_view{image, {pixels, n}}, {1, 0}, tensor_view{planes, {n, pixels}},
                {.scale = {scales.data(), n}, .bias = {biases.data(), n}, .axis = 0});
        for (std::int64_t c = 0; c < n; ++c) {
            for (std::int64_t i = 0; i < pixels; ++i) {
                const float wanted = std::fma(static_cast<float>(image[static_cast<std::size_t>(i * n + c)]),
                                              scales[static_cast<std::size_t>(c)], biases[static_cast<std::size_t>(c)]);
                ASSERT_EQ(planes[static_cast<std::size_t>(c * pixels + i)], wanted) << "seed " << seed;
            }
        }
    }
}

// All values of `from`, or those that are drawn, in the type `to`.
void check_values(element_type from, element_type to, bool saturates, const std::vector<std::uint64_t>& values) {
    const auto from_size = static_cast<std::size_t>(size_of(from)), to_size = static_cast<std::size_t>(size_of(to));
    std::vector<std::uint64_t> source(values.size() * from_size / 8 + 1), destination(values.size() * to_size / 8 + 1);
    auto* const in = reinterpret_cast<unsigned char*>(source.data());
    auto* const out = reinterpret_cast<unsigned char*>(destination.data());
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(in + i * from_size, &values[i], from_size);
    const std::int64_t extents[] = {static_cast<std::int64_t>(values.size())};
    cornerturn_conversion how{};
    how.unsaturated = !saturates;
    ASSERT_EQ(cornerturn_convert(1, extents, in, static_cast<cornerturn_element>(from), nullptr, nullptr, out,
                                 static_cast<cornerturn_element>(to), nullptr, &how, 1),
              CORNERTURN_OK)
        << cornerturn_last_error();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const tests::expected_element wanted = tests::converted_element(in + i * from_size, from, to, saturates);
        std::uint64_t got = 0;
        std::memcpy(&got, out + i * to_size, to_size);
        ASSERT_TRUE(wanted.fits(out + i * to_size, to))
            << name_of(from) << " " << std::hex << values[i] << " to " << name_of(to) << ": " << got << ", not "
            << wanted.bits << (saturates ? "" : ", unsaturated");
    }
}

TEST(host_convert, every_value_of_narrow_types) {
    for (const element_type from : tests::kRealTypes) {
        if (size_of(from) > 2) continue;
        std::vector<std::uint64_t> all(std::size_t{1} << 8 * size_of(from));
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        for (const element_type to : tests::kRealTypes) {
            check_values(from, to, true, all);
            check_values(from, to, false, all);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(host_convert, drawn_values_of_wide_types) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (const element_type from : tests::kRealTypes) {
        if (size_of(from) <= 2) continue;
        std::vector<std::uint64_t> drawn(tests::kSanitized ? 2000 : 20000);
        for (auto& bits : drawn) bits = tests::drawn_bits(from, random);
        for (const element_type to : tests::kRealTypes) {
            check_values(from, to, true, drawn);
            check_values(from, to, false, drawn);
            if (HasFatalFailure()) return;
        }
    }
}

// All values of f32 take an hour, so only who asks for it gets them: CORNERTURN_EVERY_FLOAT=1.
TEST(host_convert, every_float) {
    const bool all = std::getenv("CORNERTURN_EVERY_FLOAT") != nullptr;
    const std::uint64_t seed = new_seed(), step = all ? 1 : 9973;
    std::vector<std::uint64_t> values;
    for (std::uint64_t bits = all ? 0 : seed % step; bits < std::uint64_t{1} << 32; bits += step) {
        values.push_back(bits);
        if (values.size() < 1 << 20 && bits + step < std::uint64_t{1} << 32) continue;
        for (const element_type to : tests::kRealTypes) {
            if (size_of(to) > 2) continue;
            check_values(element_type::f32, to, true, values);
            if (is_fp8(to)) check_values(element_type::f32, to, false, values);
            if (HasFatalFailure()) return;
        }
        values.clear();
    }
}

// PyTorch and XLA let the processor flush subnormal numbers. That must not reach the values.
TEST(host_convert, is_independent_of_the_modes_of_arithmetic) {
    const std::vector<e4m3fn> narrow(100'000, e4m3fn{1});  // 2^-9, a subnormal number
    const std::vector<float> tiny(100'000, 0x1p-140f), ties(100'000, 2.5f);
    std::vector<float> wide(narrow.size());
    std::vector<double> doubles(tiny.size());
    std::vector<std::int32_t> whole(ties.size());
    for (const int threads : {1, 0}) {
        std::fenv_t before;
        ASSERT_EQ(std::fegetenv(&before), 0);
        std::fesetround(FE_UPWARD);
#ifdef __SSE2__
        _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
        const auto n = static_cast<std::int64_t>(narrow.size());
        convert(tensor_view{narrow, {n}}, tensor_view{wide, {n}}, {.scale = 3}, {.threads = threads});
        convert(tensor_view{tiny, {n}}, tensor_view{doubles, {n}}, {}, {.threads = threads});
        convert(tensor_view{ties, {n}}, tensor_view{whole, {n}}, {}, {.threads = threads});
        const int rounding = std::fegetround();
        std::fesetenv(&before);
        EXPECT_EQ(rounding, FE_UPWARD);  // the caller's modes stay
        EXPECT_TRUE(std::all_of(wide.begin(), wide.end(), [](float x) { return x == 3 * 0x1p-9f; }));
        EXPECT_TRUE(std::all_of(doubles.begin(), doubles.end(), [](double x) { return x == 0x1p-140; }));
        EXPECT_TRUE(std::all_of(whole.begin(), whole.end(), [](std::int32_t x) { return x == 2; }));
    }
}

TEST(host_convert, complex_elements_are_scaled_in_both_parts) {
    const std::vector<std::complex<double>> source = {{1, -2}, {0.5, 3}, {1e300, 7}};
    std::vector<std::complex<float>> destination(3);
    convert(tensor_view{source, {3}}, tensor_view{destination, {3}}, {.scale = 2});
    EXPECT_EQ(destination[0], std::complex<float>(2, -4));
    EXPECT_EQ(destination[1], std::complex<float>(1, 6));
    EXPECT_EQ(destination[2].real(), INFINITY);
    EXPECT_THROW(convert(tensor_view{source, {3}}, tensor_view{destination, {3}}, {.bias = 2}), invalid_argument);
}

TEST(host_convert, converts_where_it_lies) {
    std::vector<float> values = {1.5f, 2.5f, -3, NAN};
    auto* const integers = reinterpret_cast<std::int32_t*>(values.data());
    const std::int64_t extents[] = {2, 2};
    ASSERT_EQ(cornerturn_convert(2, extents, integers, CORNERTURN_F32, nullptr, nullptr, integers, CORNERTURN_I32,
                                 nullptr, nullptr, 0),
              CORNERTURN_OK);
    std::int32_t found[4];
    std::memcpy(found, values.data(), sizeof found);
    EXPECT_EQ(found[0], 2);
    EXPECT_EQ(found[1], 2);
    EXPECT_EQ(found[2], -3);
    EXPECT_EQ(found[3], 0);
    // In another order, or with elements of another size, it cannot.
    const int axes[] = {1, 0};
    EXPECT_EQ(cornerturn_convert(2, extents, integers, CORNERTURN_F32, nullptr, axes, integers, CORNERTURN_I32, nullptr,
                                 nullptr, 0),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_convert(2, extents, integers, CORNERTURN_F32, nullptr, nullptr, integers, CORNERTURN_F16,
                                 nullptr, nullptr, 0),
              CORNERTURN_INVALID_ARGUMENT);
}

TEST(host_convert, refuses_what_does_not_fit) {
    std::vector<float> source(12), numbers(4);
    std::vector<f16> destination(12);
    const tensor_view from{source, {3, 4}};
    const tensor_view to{destination, {4, 3}};
    const detail::axis_list axes{1, 0};
    const auto refused = [&](const conversion& how) {
        destination.assign(12, f16{7});
        EXPECT_THROW(convert(from, axes, to, how), invalid_argument);
        for (const f16 x : destination) EXPECT_EQ(x.bits, 7);
    };
    refused({.scale = {numbers.data(), 3}, .axis = 0});
    refused({.bias = {numbers.data(), 4}, .axis = 1});
    refused({.scale = {numbers.data(), 4}, .axis = 2});
    refused({.scale = {numbers.data(), 4}, .axis = -3});
    refused({.scale = {static_cast<const float*>(nullptr), 4}, .axis = 0});
    refused(
        {.scale = {reinterpret_cast<const float*>(reinterpret_cast<const char*>(numbers.data()) + 1), 4}, .axis = 0});
    convert(from, axes, to, {.scale = {numbers.data(), 4}, .axis = -2});
    convert(from, axes, to, {.scale = {numbers.data(), 1}, .axis = 9});               // one number has no axis
    EXPECT_THROW(convert(from, tensor_view{destination, {4, 3}}), invalid_argument);  // extents
    std::vector<std::complex<float>> complex(12);
    EXPECT_THROW(convert(from, tensor_view{complex, {3, 4}}), invalid_argument);
    EXPECT_THROW(convert(tensor_view{complex, {3, 4}}, tensor_view{source, {3, 4}}), invalid_argument);

    const std::int64_t extents[] = {3, 4};
    const auto status = [&](int from_type, int to_type, const cornerturn_conversion& how) {
        return cornerturn_convert(2, extents, source.data(), static_cast<cornerturn_element>(from_type), nullptr,
                                  nullptr, destination.data(), static_cast<cornerturn_element>(to_type), nullptr, &how,
                                  0);
    };
    EXPECT_EQ(status(CORNERTURN_F32, CORNERTURN_F16, {}), CORNERTURN_OK);
    for (const int wrong : {-1, 0, 18, 1000}) {
        EXPECT_EQ(status(wrong, CORNERTURN_F16, {}), CORNERTURN_INVALID_ARGUMENT);
        EXPECT_EQ(status(CORNERTURN_F32, wrong, {}), CORNERTURN_INVALID_ARGUMENT);
    }
    cornerturn_conversion how{};
    how.scale.kind = static_cast<cornerturn_factors_kind>(4);
    EXPECT_EQ(status(CORNERTURN_F32, CORNERTURN_F16, how), CORNERTURN_INVALID_ARGUMENT);
}

TEST(host_convert, empty_tensors) {
    convert(tensor_view{static_cast<const float*>(nullptr), {0, 4}}, {1, 0},
            tensor_view{static_cast<f16*>(nullptr), {4, 0}});
    float one = 2.5f;
    std::int8_t number = 0;
    convert(tensor_view{&one, {}}, tensor_view{&number, {}});
    EXPECT_EQ(number, 2);
}

}  // namespace
