// Every rung moves a matrix of more than 2^30 rows and 2^31 elements. That takes hundreds of launches, one for every
// 65,535 rows of tiles.
#include <gtest/gtest.h>

#include "ladder_check.hpp"

using namespace cornerturn;

namespace {

TEST(ladder_tall, more_than_2_to_the_31_elements_in_two_columns) {
    int rungs = 0;
    for (const kernel& k : kernels()) {
        if (!tests::in_ladder(k) || !k.takes(4)) continue;
        // These tiles are only a few rows high, so they would take hundreds of thousands of launches.
        if (k.id == "transpose/reindexed@2x2" || k.id == "transpose/reindexed@3x4") continue;
        ++rungs;
        ASSERT_EQ(tests::run_classes(k, {.rows = 1100000003, .cols = 2}).fault, "") << k.id;
    }
    EXPECT_GE(rungs, 17);
}

}  // namespace
