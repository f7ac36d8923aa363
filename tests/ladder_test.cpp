// Every rung moves every matrix: element sizes, ragged and tiny shapes, leading dimensions, offsets, and sizes beyond
// 2^31 elements and 65,535 tiles.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "describe.hpp"
#include "ladder_check.hpp"

using namespace cornerturn;
using tests::in_ladder;

namespace {

constexpr int kElementSizes[] = {1, 2, 4, 8, 16};

template <class F>
void for_each_rung(F f) {
    int rungs = 0;
    for (const kernel& k : kernels()) {
        if (!in_ladder(k)) continue;
        ++rungs;
        for (int size : kElementSizes) {
            if (k.takes(size)) f(k, size);
        }
    }
    EXPECT_GE(rungs, 19);
}

std::string name(const kernel& k, const problem_shape& s) { return k.id + ", " + tests::describe(s); }

TEST(ladder, edges_of_every_tile) {
    for_each_rung([](const kernel& k, int size) {
        for (std::int64_t rows : {0, 1, 2, 3, 7, 31, 32, 33, 64, 67}) {
            for (std::int64_t cols : {0, 1, 2, 5, 16, 31, 33, 63}) {
                const problem_shape shape{.rows = rows, .cols = cols, .element_size = size};
                const auto found = tests::run_every_block(k, shape);
                ASSERT_EQ(found.fault, "") << name(k, shape);
                ASSERT_EQ(found.report.launches, rows * cols == 0 ? 0u : 1u);
            }
        }
    });
}

TEST(ladder, random_shapes_leading_dimensions_and_offsets) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for_each_rung([&](const kernel& k, int size) {
        for (int round = 0; round < 6; ++round) {
            problem_shape shape{.arranged = arranged_by(k),
                                .rows = 1 + up_to(150),
                                .cols = 1 + up_to(150),
                                .element_size = size,
                                .seed = seed};
            shape.source_ld = shape.cols + (round % 2 != 0 ? up_to(9) : 0);
            shape.destination_ld = shape.destination_cols() + (round % 3 != 0 ? up_to(9) : 0);
            shape.source_offset = up_to(5);
            shape.destination_offset = up_to(5);
            ASSERT_EQ(tests::run_every_block(k, shape).fault, "") << name(k, shape);
        }
    });
}

TEST(ladder, empty_matrices_launch_nothing) {
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    for_each_rung([&](const kernel& k, int size) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{huge, 0}, {0, huge}, {0, 0}}) {
            for (bool every_block : {true, false}) {
                const lab::emulation_outcome found =
                    lab::emulate(k, tests::moves(k, {.rows = rows, .cols = cols, .element_size = size}),
                                 {.every_block = every_block});
                ASSERT_EQ(found.verdict.fault, "") << k.id;
                ASSERT_EQ(found.report.launches, 0u) << k.id;
            }
        }
    });
}

TEST(ladder, one_row_and_one_column) {
    for_each_rung([](const kernel& k, int size) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 3001}, {3001, 1}}) {
            const problem_shape shape{.rows = rows, .cols = cols, .element_size = size};
            ASSERT_EQ(tests::run_every_block(k, shape).fault, "") << name(k, shape);
        }
    });
}

TEST(ladder, more_than_65535_tiles_on_either_axis) {
    for_each_rung([](const kernel& k, int size) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{2200000, 5}, {5, 2200000}}) {
            const problem_shape shape{.rows = rows, .cols = cols, .element_size = size};
            ASSERT_EQ(tests::run_classes(k, shape).fault, "") << name(k, shape);
        }
    });
}

TEST(ladder, slabs_are_complete) {
    // Every block, for the rungs with the smallest tiles: 530,001 rows are more than 65,535 tiles of 8 rows.
    for (const char* id : {"transpose/reindexed@2x2", "transpose/reindexed@3x4", "transpose/reindexed@32x8"}) {
        const problem_shape shape{.rows = 530001, .cols = 3};
        const auto found = tests::run_every_block(find_kernel(id), shape);
        ASSERT_EQ(found.fault, "") << id;
        EXPECT_GT(found.report.launches, 1u) << id;
    }
}

TEST(ladder, more_than_2_to_the_31_elements) {
    for_each_rung([](const kernel& k, int size) {
        // Two columns: long/ladder_tall_test.cpp.
        for (auto [rows, cols] :
             {std::pair<std::int64_t, std::int64_t>{65536, 65536}, {50021, 60013}, {3, 3000000001}}) {
            const problem_shape shape{.rows = rows, .cols = cols, .element_size = size};
            ASSERT_EQ(tests::run_classes(k, shape).fault, "") << name(k, shape);
        }
    });
}

}  // namespace
