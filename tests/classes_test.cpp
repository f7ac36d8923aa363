// The counters of one block of each class, times the number of its blocks, equal the counters of every block.
#include <gtest/gtest.h>

#include <random>

#include "describe.hpp"
#include "ladder_check.hpp"

using namespace cornerturn;
using tests::in_ladder;

namespace {

TEST(classes, count_the_same_as_every_block) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    for (const kernel& k : kernels()) {
        if (!in_ladder(k)) continue;
        for (int size : {1, 2, 4, 8, 16}) {
            if (!k.takes(size)) continue;
            for (int round = 0; round < 4; ++round) {
                problem_shape shape{.arranged = arranged_by(k), .element_size = size};
                shape.rows = round == 0 ? 256 : 1 + random() % 400;
                shape.cols = round == 0 ? 128 : 1 + random() % 400;
                shape.source_ld = shape.cols + random() % 3 * (round > 1);
                shape.destination_ld = shape.destination_cols() + random() % 3 * (round > 1);
                shape.source_offset = random() % 4 * (round > 2);
                shape.destination_offset = random() % 4 * (round > 2);
                const auto every = tests::run_every_block(k, shape, {.lines = true});
                const auto some = tests::run_classes(k, shape, {.lines = true, .seed = seed});
                const std::string what = k.id + ", size " + std::to_string(size) + ", " + std::to_string(shape.rows) +
                                         " x " + std::to_string(shape.cols) + ", seed " + std::to_string(seed);
                ASSERT_EQ(every.fault, "") << what;
                ASSERT_EQ(some.fault, "") << what;
                ASSERT_TRUE(every.report.counts == some.report.counts) << what;
                ASSERT_EQ(every.report.blocks, some.report.blocks) << what;
                ASSERT_EQ(every.report.lines.size(), some.report.lines.size()) << what;
                emulator::counters by_line;
                for (std::size_t i = 0; i < every.report.lines.size(); ++i) {
                    ASSERT_TRUE(every.report.lines[i].counts == some.report.lines[i].counts) << what;
                    ASSERT_EQ(every.report.lines[i].file, k.file) << what;
                    by_line += every.report.lines[i].counts;
                }
                ASSERT_TRUE(by_line == every.report.counts) << what;
            }
        }
    }
}

// The library's kernels take batches. Only launches with a tiling are compared.
TEST(classes, of_batches_count_the_same_as_every_block) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const kernel& k = find_kernel("transpose/production");
    constexpr int kWanted = 10, kMostRounds = 1000;  // about one shape in seven is launched with a tiling
    int compared = 0;
    for (int round = 0; compared < kWanted && round < kMostRounds; ++round) {
        problem_shape shape{.element_size = 1 << random() % 5};
        shape.rows = 20 + random() % 300;
        shape.cols = 20 + random() % 300;
        shape.count = 2 + random() % 9;
        shape.source_ld = shape.cols + random() % 3 * (round % 2);
        shape.destination_ld = shape.rows + random() % 3 * (round % 2);
        shape.source_stride = shape.rows * shape.source_ld + random() % 9 * (round % 3);
        shape.destination_stride = shape.cols * shape.destination_ld + random() % 9 * (round % 3);
        const auto some = tests::run_classes(k, shape, {.seed = seed});
        if (!some.finished) continue;
        const auto every = tests::run_every_block(k, shape);
        const std::string what = tests::describe(shape) + ", seed " + std::to_string(seed);
        ASSERT_EQ(every.fault, "") << what;
        ASSERT_EQ(some.fault, "") << what;
        ASSERT_TRUE(every.report.counts == some.report.counts) << what;
        ASSERT_EQ(every.report.blocks, some.report.blocks) << what;
        ++compared;
    }
    EXPECT_EQ(compared, kWanted) << "seed " << seed;
}

TEST(classes, the_number_of_workers_changes_nothing) {
    const kernel& k = find_kernel("transpose/padded@16x16");
    const problem_shape shape{.rows = 700, .cols = 333, .element_size = 8};
    const auto one = tests::run_every_block(k, shape, {.workers = 1});
    for (unsigned workers : {2u, 3u, 8u}) {
        const auto many = tests::run_every_block(k, shape, {.workers = workers});
        EXPECT_TRUE(one.report.counts == many.report.counts);
        EXPECT_EQ(one.report.accesses, many.report.accesses);
    }
}

TEST(classes, few_blocks_represent_many) {
    const auto found = tests::run_classes(find_kernel("transpose/padded@32x8"), {.rows = 65536, .cols = 65536});
    EXPECT_EQ(found.report.classes, 1u);
    EXPECT_EQ(found.report.blocks, 2048u * 2048u);
    EXPECT_LT(found.report.blocks_run, 32u);
}

}  // namespace
