// Choices that were measured: calls take them, and files keep them.
#include <gtest/gtest.h>

#include <random>

#include "cornerturn/error.hpp"
#include "known_gpus.hpp"
#include "move/policy_measured.hpp"
#include "strided_emulated.hpp"

using namespace cornerturn;

namespace {

// A transpose of 200 x 300 floats at these bytes after a boundary.
strided_copy transpose(std::int64_t source_past, std::int64_t destination_past, std::int64_t rows = 200) {
    const strided_axis axes[] = {{rows, 300 * 4, 4}, {300, 4, rows * 4}};
    return canonical((1 << 20) + static_cast<std::uintptr_t>(source_past),
                     (1 << 30) + static_cast<std::uintptr_t>(destination_past), 4, axes, 2);
}

bool same(const moves::candidate& a, const moves::candidate& b) { return a.by == b.by && a.row == b.row; }

TEST(measured_choices, are_taken_for_copies_that_are_alike) {
    const strided_copy c = transpose(0, 0);
    const moves::candidate predicted = moves::choose(c, kH200);
    const moves::candidate other = moves::candidates(c, kH200).back();
    ASSERT_FALSE(same(predicted, other));
    EXPECT_EQ(moves::plan_for(c, kH200).by, predicted.by);
    const unsigned before = moves::measured_count();
    moves::remember_measured(c, kH200, other);
    EXPECT_GT(moves::measured_count(), before);
    EXPECT_TRUE(same(moves::choose(c, kH200), other));
    EXPECT_EQ(moves::plan_for(c, kH200).by, other.by) << "the plan that was remembered is out of date";
    EXPECT_TRUE(same(moves::candidates(c, kH200).front(), other));
    EXPECT_TRUE(moves::explain(c, kH200).find(moves::text_of(other, c, kH200)) != std::string::npos);
    EXPECT_TRUE(same(moves::choose(transpose(64, 128), kH200), other)) << "the remainder by 64 is the same";
    // All that a choice depends on.
    for (const strided_copy& different : {transpose(4, 0), transpose(0, 4), transpose(0, 0, 201)})
        EXPECT_FALSE(moves::measured_way(different, kH200)) << moves::explain(different, kH200);
    EXPECT_FALSE(moves::measured_way(c, tests::kGpus[0]));
}

TEST(measured_choices, every_way_survives_a_file) {
    std::mt19937_64 random(1);
    int ways = 0;
    for (int round = 0; round < 300; ++round) {
        const tests::strided_problem p =
            round % 2 == 0 ? tests::draw_batch(random) : tests::draw_strided(random, 1 << 14);
        const strided_copy c = p.canonical(reinterpret_cast<void*>(1 << 20), reinterpret_cast<void*>(1 << 30));
        const std::vector<moves::candidate> all = moves::candidates(c, kH200);
        if (all.front().by == moves::kernel_family::nothing) continue;
        const moves::candidate& one = all[random() % all.size()];
        moves::remember_measured(c, kH200, one);
        const std::string text = moves::measured_text();
        moves::remember_measured(c, kH200, all.front());
        EXPECT_GT(moves::read_measured(text), 0);
        EXPECT_TRUE(same(moves::choose(c, kH200), one)) << moves::explain(one, c, kH200);
        EXPECT_EQ(moves::measured_text(), text);
        ++ways;
    }
    EXPECT_GT(ways, 200);
}

// A file may come from another version, or be wrong. No copy is made wrong by it.
TEST(measured_choices, unfit_choices_are_left_out) {
    const strided_copy c = transpose(8, 16);
    moves::remember_measured(c, kH200, moves::choose(c, kH200));
    const std::string text = moves::measured_text();
    // The same text with another way in each line.
    const auto replaced = [&](const std::string& way) {
        std::string lines;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            std::string line = text.substr(at, end - at);
            const std::size_t name = line.find_first_of("abcdefghijklmnopqrstuvwxyz");
            if (at > 0) line = line.substr(0, name) + way;
            lines += line + '\n';
            at = end + 1;
        }
        return lines;
    };
    EXPECT_EQ(moves::read_measured(replaced("a kernel of the future 1 2 3")), 0);
    const moves::candidate before = moves::choose(c, kH200);
    // A way that this copy cannot take.
    EXPECT_GT(moves::read_measured(replaced("vector_in_place 4 64 64 512 0")), 0);
    const moves::candidate chosen = moves::choose(c, kH200);
    EXPECT_NE(chosen.by, moves::kernel_family::vector_in_place);
    EXPECT_TRUE(same(chosen, before) || chosen.cost <= before.cost);
    std::string with_returns = replaced("tiles 256 16384");  // as git may write the file elsewhere
    for (std::size_t at = 0; (at = with_returns.find('\n', at)) != std::string::npos; at += 2)
        with_returns.insert(at, 1, '\r');
    EXPECT_GT(moves::read_measured(with_returns), 0);
    EXPECT_THROW(moves::read_measured(""), invalid_argument);
    EXPECT_THROW(moves::read_measured("something else\n"), invalid_argument);
    EXPECT_THROW(moves::read_measured(text.substr(0, text.find('\n') + 1) + "1 2 3 rows\n"), invalid_argument);
    EXPECT_THROW(moves::read_measured(text.substr(0, text.find('\n') + 1) + "1 2 3 4 5 6 7 8 9\n"), invalid_argument);
}

}  // namespace
