// Which method a transpose on host memory uses.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/problem.hpp"
#include "host/choice.hpp"
#include "host/kernels.hpp"
#include "host/squares.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(host_choice, every_method) {
    const std::pair<problem_shape, const char*> methods[] = {
        {{.rows = 100, .cols = 100}, "direct"},
        {{.rows = 3000, .cols = 3008}, "strips"},
        {{.rows = 3008, .cols = 3000}, "lines"},
        {{.rows = 3008, .cols = 3000, .destination_offset = 1}, "lines"},
        {{.rows = 192 * 1024, .cols = 128}, "strips"},
        {{.rows = 192 * 1024, .cols = 129}, "lines"},
        {{.rows = 192 * 1024, .cols = 64, .source_ld = 72}, "lines"},
        {{.rows = 128, .cols = 64, .count = 2048}, "lines"},
        {{.rows = 3, .cols = 3 * kMiB}, "image"},
        {{.rows = 32, .cols = 31, .element_size = 3, .count = 4096}, "tiles"},
        {{.rows = 3, .cols = 3 * kMiB, .destination_ld = 4}, "tiles"},
        {{.rows = 33, .cols = 31, .element_size = 8, .count = 4096}, "tiles"},
        {{.rows = 3, .cols = 3, .element_size = 2, .count = kMiB}, "tiles"},
        {{.rows = 2001, .cols = 2000, .element_size = 6}, "tiles"},
        {{.rows = 1, .cols = 9 * kMiB}, "copy"},
        {{.rows = 30, .cols = 30, .in_place = true}, "in_place"},
        {{.rows = 3, .cols = 5, .element_size = kMostElementBytes}, "direct"}};
    for (const auto& [shape, method] : methods) {
        const host_problem problem(shape);
        const std::string text = host::explain(problem.work());
        EXPECT_EQ(text.substr(0, text.find(',')), method) << text;  // the name of the method comes first
    }
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
