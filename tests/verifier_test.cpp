// The verifier fails where it must: every byte that a kernel could get wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "core/pattern.hpp"
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "device/registry.hpp"

using namespace cornerturn;

namespace {

// A problem solved by the host's reference.
std::unique_ptr<host_problem> solved(const problem_shape& shape) {
    auto problem = std::make_unique<host_problem>(shape);
    problem->prepare();
    find_kernel("host/reference").run(backend::host)(problem->work());
    return problem;
}

TEST(pattern, tells_elements_apart) {
    std::set<std::uint32_t> words;
    std::set<std::uint64_t> doubles;
    for (std::uint64_t i = 0; i < 100000; ++i) {
        words.insert(pattern<std::uint32_t>(i, 1));
        doubles.insert(pattern<std::uint64_t>(i, 1));
    }
    EXPECT_EQ(words.size(), 100000u);
    EXPECT_EQ(doubles.size(), 100000u);
    int same = 0;
    for (std::uint64_t i = 0; i < 4096; ++i) same += pattern<std::uint8_t>(i, 1) == pattern<std::uint8_t>(i + 256, 1);
    EXPECT_LT(same, 64);  // no period of a row
    EXPECT_NE(pattern<std::uint32_t>(5, 1), pattern<std::uint32_t>(5 + (1ull << 32), 1));
    EXPECT_NE(pattern<std::uint64_t>(5, 1), pattern<std::uint64_t>(5, 2));
}

TEST(pattern, numbers_are_finite_and_normal) {
    const auto normal = [](auto bits, auto number) {
        std::memcpy(&number, &bits, sizeof number);
        return std::isnormal(number);
    };
    int others = 0;
    for (std::int64_t i = 0; i < 100000; ++i) {
        const pattern_elements<std::uint32_t> words{1, 1, false, true};
        const pattern_elements<std::uint64_t> doubles{1, 1, false, true};
        const pattern_elements<bits128> pairs{1, 1, false, true};
        EXPECT_TRUE(normal(words(i, 0), 0.0f));
        EXPECT_TRUE(normal(doubles(i, 0), 0.0));
        EXPECT_TRUE(normal(pairs(i, 0).low, 0.0) && normal(pairs(i, 0).high, 0.0));
        others += !normal(pattern_elements<std::uint32_t>{1, 1, false, false}(i, 0), 0.0f);
    }
    EXPECT_GT(others, 0);  // otherwise every bit pattern comes
}

TEST(verifier, accepts_the_reference_and_nothing_else) {
    for (int size : {1, 2, 4, 8, 16}) {
        for (auto [rows, cols] : {std::pair{0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 9}, {9, 1}, {17, 23}}) {
            const problem_shape shape{.rows = rows,
                                      .cols = cols,
                                      .element_size = size,
                                      .source_ld = cols + 3,
                                      .destination_ld = rows + 5,
                                      .source_offset = 1,
                                      .destination_offset = 2,
                                      .numbers = rows == 17};
            EXPECT_EQ(solved(shape)->check().fault, "") << rows << " x " << cols << " of " << size;
        }
    }
}

TEST(verifier, finds_any_single_byte_changed) {
    const problem_shape shape{.rows = 5,
                              .cols = 3,
                              .element_size = 2,
                              .source_ld = 4,
                              .destination_ld = 7,
                              .source_offset = 3,
                              .destination_offset = 1};
    const auto problem = solved(shape);
    ASSERT_EQ(problem->check().fault, "");
    for (const guarded_buffer* buffer : {&problem->source(), &problem->destination()}) {
        for (std::int64_t i = -kGuardBytes; i < buffer->size() + kGuardBytes; ++i) {
            buffer->data()[i] ^= 0x10;
            EXPECT_NE(problem->check().fault, "") << "byte " << i;
            buffer->data()[i] ^= 0x10;
        }
    }
    EXPECT_EQ(problem->check().fault, "");
}

TEST(verifier, nothing_written_never_passes) {
    for (int size : {1, 2, 4, 8, 16}) {
        host_problem problem({.rows = 64, .cols = 64, .element_size = size});
        problem.prepare();
        EXPECT_NE(problem.check().fault.find("row 0, column 0"), std::string::npos);
        // Not one element of the poison may be right by chance: right everywhere but there.
        const auto right = solved({.rows = 64, .cols = 64, .element_size = size});
        for (std::int64_t i = 0; i < 64 * 64; ++i) {
            EXPECT_NE(
                std::memcmp(problem.destination().data() + i * size, right->destination().data() + i * size, size), 0);
        }
    }
}

TEST(verifier, checks_tiles) {
    host_problem problem({.rows = 1000, .cols = 1000});
    const std::vector<tile> tiles = {{0, 0, 32, 32}, {968, 500, 32, 32}};
    problem.prepare(tiles);
    EXPECT_NE(problem.check(tiles).fault, "");
    const matrix_work w = problem.work();
    for (const tile& t : tiles) {
        for (std::int64_t row = t.row; row < t.row + t.rows; ++row) {
            for (std::int64_t col = t.col; col < t.col + t.cols; ++col) {
                static_cast<std::uint32_t*>(w.destination)[col * 1000 + row] =
                    static_cast<const std::uint32_t*>(w.source)[row * 1000 + col];
            }
        }
    }
    EXPECT_EQ(problem.check(tiles).fault, "");
    EXPECT_EQ(problem.check(tiles).elements, 2 * 32 * 32);
    static_cast<std::uint32_t*>(w.destination)[510 * 1000 + 970] ^= 1;
    EXPECT_NE(problem.check(tiles).fault.find("destination (row 510, column 970)"), std::string::npos);
}

TEST(shapes, that_cannot_be_are_refused) {
    EXPECT_THROW((problem_shape{.rows = -1, .cols = 3}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 3, .source_ld = 2}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .destination_ld = 2}.checked()), invalid_argument);
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW((problem_shape{.rows = huge, .cols = 2}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = huge / 4, .cols = 1, .element_size = 8}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = std::int64_t{1} << 30, .cols = std::int64_t{1} << 30}.checked()),
                 invalid_argument);
}

TEST(registry, suggests_the_nearest_id) {
    try {
        find_kernel("transpose/paded@32x8");
        ADD_FAILURE();
    } catch (const invalid_argument& mistake) {
        EXPECT_NE(std::string(mistake.what()).find("'transpose/padded@32x8'"), std::string::npos) << mistake.what();
    }
}

}  // namespace
