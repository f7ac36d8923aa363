// Which methods can do a transpose in host memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "host/choice.hpp"
#include "host/cost.hpp"
#include "host/kernels.hpp"
#include "host/squares.hpp"
#include "message.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

// The methods that can do work, in any order.
TEST(host_choice, methods) {
    using names = std::set<std::string>;
    const std::pair<problem_shape, names> methods[] = {
        {{.rows = 100, .cols = 100}, {"direct"}},
        {{.rows = 3000, .cols = 3008}, {"direct", "strips", "tiles"}},
        {{.rows = 3008, .cols = 3000}, {"direct", "lines", "strips", "tiles"}},
        {{.rows = 3008, .cols = 3000, .destination_offset = 1}, {"direct", "lines", "strips", "tiles"}},
        {{.rows = 192 * 1024, .cols = 64, .source_ld = 72}, {"direct", "lines", "strips", "tiles"}},
        {{.rows = 128, .cols = 64, .count = 2048}, {"direct", "lines", "image", "strips", "tiles"}},
        {{.rows = 3, .cols = 3 * kMiB}, {"direct", "image", "tiles"}},
        {{.rows = 32, .cols = 31, .element_size = 3, .count = 4096}, {"direct", "image", "tiles"}},
        {{.rows = 3, .cols = 3 * kMiB, .destination_ld = 4}, {"direct", "tiles"}},
        {{.rows = 2001, .cols = 2000, .element_size = 6}, {"direct", "strips", "tiles"}},
        {{.rows = 1, .cols = 9 * kMiB}, {"runs"}},
        {{.rows = 1, .cols = 9 * kMiB, .source_ld = 9 * kMiB, .destination_ld = 2}, {"tiles"}},
        {{.rows = 3000, .cols = 3000, .element_size = 1024}, {"runs"}},
        {{.rows = 30, .cols = 30, .in_place = true}, {"in_place"}},
        {{.rows = 3000, .cols = 3000, .in_place = true}, {"in_place"}},
        {{.rows = 3, .cols = 5, .element_size = kMostElementBytes}, {"direct"}}};
    for (const auto& [shape, wanted] : methods) {
        const host_problem problem(shape);
        const auto ways = host::ways_of(problem.work(), host::team({}));
        names found;
        for (const host::named_way& one : ways) EXPECT_TRUE(found.insert(one.name).second) << one.name;
        EXPECT_EQ(found, wanted);
        const std::string text = host::explain(problem.work());
        const bool is_copy = found == names{"runs"} || found == names{"tiles"};
        EXPECT_EQ(text.substr(0, text.find(',')), is_copy ? "copy" : ways.front().name) << text;
        for (std::size_t i = 1; i < ways.size(); ++i) EXPECT_NAMES(text, ways[i].name);
    }
}

// Numbers that a cost is predicted from: between two powers of two, both count in part.
TEST(host_choice, features) {
    const auto of = [](const problem_shape& shape) {
        return host::features(host::job(host_problem(shape).work(), host::team({.threads = 1}))).all();
    };
    const auto a = of({.rows = 3000, .cols = 3008}), b = of({.rows = 3000, .cols = 3008, .element_size = 3});
    EXPECT_EQ(std::vector<float>(a.begin(), a.begin() + 12), (std::vector<float>{0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(std::vector<float>(b.begin(), b.begin() + 12),
              (std::vector<float>{0, 0.5, 0.5, 0, 0, 1, 0, 0.5, 0.5, 0, 0, 1}));
    for (const auto& all : {a, b})
        EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](float x) { return x >= 0 && x <= 1; }));
}

// The distances of rows on both sides decide whether the squares of a strip are transposed by a special function.
TEST(host_choice, strips_with_unfavourable_distances_of_rows) {
    constexpr std::int64_t kFar = 128 << 10;
    const auto is_special = [](std::int64_t source_pitch, std::int64_t destination_pitch, std::int64_t cols, int size) {
        const matrix_work work{.source = nullptr,
                               .destination = nullptr,
                               .rows = 192 / size,
                               .cols = cols,
                               .source_ld = source_pitch / size,
                               .destination_ld = destination_pitch / size,
                               .element_size = size};
        return host::transpose_strip_for(host::job(work, host::team({.threads = 1}))) != nullptr;
    };
    for (int size : {1, 2}) {
        EXPECT_EQ(is_special(kFar, 192, 4096, size), host::kernels_for(size).transpose_copied != nullptr);
        EXPECT_FALSE(is_special(kFar, 192, 4095, size));
        EXPECT_FALSE(is_special(kFar + 64, 192, 4096, size));
    }
    EXPECT_FALSE(is_special(kFar, 192, 4096, 4));
    EXPECT_TRUE(is_special(kFar + 64, 16384, 4096, 1));
}

}  // namespace
