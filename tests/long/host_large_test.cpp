// cornerturn::transpose on matrices larger than the caches: many more shapes than in host_transpose_test, and every
// instruction set. The test takes half a minute, most of it in the verifier.
#include <gtest/gtest.h>

#include "host/choice.hpp"
#include "host_transposes.hpp"

using namespace cornerturn;
using tests::expect_right;
using tests::kMiB;
using tests::kSizes;

namespace {

TEST(host_large, every_instruction_set) {
    tests::for_each_set_of_instructions([] {
        for (int size : kSizes) ASSERT_NO_FATAL_FAILURE(tests::expect_large_right(size));
    });
}

// All rows of the source begin at the same offset in a line, which may be 0. One matrix, and batches.
TEST(host_large, rows_at_any_offset_in_a_line) {
    const auto is_by_lines = [](const problem_shape& shape) {
        const auto ways = host::ways_of(host_problem(shape).work(), host::team({}));
        return std::any_of(ways.begin(), ways.end(), [](const host::named_way& w) { return w.name == "lines"; });
    };
    for (int size : {1, 2, 4, 8, 16}) {
        const std::int64_t line = 64 / size;
        for (std::int64_t cols : {line, 16 * line - 1, 16 * line, 16 * line + 1, 100 * line}) {
            for (std::int64_t source_offset : {std::int64_t{0}, std::int64_t{1}, line - 1}) {
                problem_shape shape{.rows = 12 * kMiB / (cols * size) / line * line,
                                    .cols = cols,
                                    .element_size = size,
                                    .source_ld = (cols / line + 1) * line,
                                    .source_offset = source_offset,
                                    .destination_offset = 1};
                shape.destination_ld = shape.rows;
                ASSERT_TRUE(is_by_lines(shape));
                ASSERT_NO_FATAL_FAILURE(expect_right(shape));
                shape.rows = shape.destination_ld = 5 * line;
                shape.count = 12 * kMiB / (shape.rows * cols * size) + 2;
                ASSERT_TRUE(is_by_lines(shape));
                ASSERT_NO_FATAL_FAILURE(expect_right(shape));
                shape.source_stride =
                    shape.rows * shape.source_ld + 1;  // rows of the matrices begin at different offsets
                ASSERT_NO_FATAL_FAILURE(expect_right(shape));
            }
        }
    }
}

// Matrices that are moved in strips, or in images of whole rows.
TEST(host_large, strips_and_images) {
    for (int size : {1, 2, 4, 8, 16, 3}) {
        const auto elements = 9 * kMiB / size;
        for (std::int64_t side : {2, 7, 64, 255, 3001}) {
            const std::int64_t other = elements / side + 1;
            for (std::int64_t gap : {0, 1, 64}) {
                if (gap > side) continue;  // mostly gaps
                for (const bool tall : {false, true}) {
                    const std::int64_t rows = tall ? other : side, cols = tall ? side : other;
                    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows,
                                                          .cols = cols,
                                                          .element_size = size,
                                                          .source_ld = cols + gap,
                                                          .destination_ld = rows + gap,
                                                          .source_offset = gap % 64,
                                                          .destination_offset = gap % 64}));
                }
            }
        }
    }
}

// Rows of the destination that are whole lines, except for their ends. One or two strips at a time, at one position or
// several, with partial strips and positions. Sources whose rows compete for the same cache sets. Destinations whose
// rows begin within a line, or all in the same cache set.
TEST(host_large, rows_of_lines) {
    for (int size : kSizes) {
        const std::int64_t line = 64 / size, page = 4096 / size, wide = 128 * 1024 / size;
        for (std::int64_t rows : {2 * line, 3 * line + 1, 40 * line, 41 * line - 1}) {
            problem_shape shape{.rows = rows,
                                .cols = 9 * kMiB / size / rows,
                                .element_size = size,
                                .destination_ld = (rows / line + 1) * line};
            if (rows < 4 * line) {
                shape.source_ld = (shape.cols / wide + 1) * wide;
                ASSERT_NO_FATAL_FAILURE(expect_right(shape));
                shape.source_ld = 0;
            }
            shape.source_offset = 1;
            for (std::int64_t offset : {std::int64_t{0}, std::int64_t{1}, line - 1}) {
                shape.destination_offset = offset;
                ASSERT_NO_FATAL_FAILURE(expect_right(shape));
            }
            if (rows < 4 * line) continue;
            shape.destination_ld = page;
            ASSERT_NO_FATAL_FAILURE(expect_right(shape));
        }
        ASSERT_NO_FATAL_FAILURE(tests::expect_runs_right(size));
    }
}

}  // namespace
