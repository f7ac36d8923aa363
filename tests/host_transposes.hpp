// Verified transposes in host memory, for the tests of the host library.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "cornerturn/transpose.hpp"
#include "describe.hpp"
#include "host/choice.hpp"
#include "host/kernels.hpp"
#include "host/team.hpp"

namespace cornerturn::tests {

constexpr int kSizes[] = {1, 2, 4, 8, 16};
constexpr std::int64_t kMiB = 1 << 20;

inline void transpose_work(const matrix_work& w, host_options options = {}) {
    const auto view = [&](const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          std::int64_t stride) {
        return detail::any_batch{reinterpret_cast<std::uintptr_t>(data), {rows, cols, ld, w.count, stride}};
    };
    detail::transpose(view(w.source, w.rows, w.cols, w.source_ld, w.source_stride),
                      view(w.destination, w.cols, w.rows, w.destination_ld, w.destination_stride), w.element_size, 1,
                      options);
}

// By every method that can do it.
inline void expect_right(const problem_shape& shape, host_options options = {}) {
    const auto expect = [&](host_problem& problem) {
        problem.prepare();
        transpose_work(problem.work(), options);
        ASSERT_EQ(problem.check().fault, "") << describe(problem.shape());
        if (shape.elements() == 0) return;
        const std::vector<host::named_way> ways = host::ways_of(problem.work(), host::team(options));
        for (std::size_t other = 1; other < ways.size(); ++other) {  // the first one was chosen
            problem.prepare();
            ways[other].run(problem.work());
            ASSERT_EQ(problem.check().fault, "") << describe(problem.shape()) << ", " << ways[other].name;
        }
    };
    // A small matrix gets new memory, which ends with its guards. In reused memory, a stray write after the guards
    // would stay unseen. Large matrices reuse memory, because fresh pages take a third of the time.
    if (shape.elements() * shape.element_size < kMiB) {
        host_problem problem(shape);
        return expect(problem);
    }
    static thread_local std::optional<host_problem> large;
    if (!large || !large->reshape(shape)) large.emplace(shape);
    expect(*large);
}

// The rows of the destination are 8 KiB apart, so all begin in the same cache set. They do not begin with a line,
// because the second matrix begins one element later.
inline void expect_two_strips_right(int size) {
    const std::int64_t ld = 8192 / size, cols = 5 * kMiB / 8192 + 7;
    for (const std::int64_t rows : {ld - 8, ld - ld / 8}) {
        expect_right({.rows = rows,
                      .cols = cols,
                      .element_size = size,
                      .destination_ld = ld,
                      .count = 2,
                      .destination_stride = cols * ld + 1});
    }
}

// Squares that are transposed through tiles, whose lines are written in turn. Some rows and columns fill no square.
inline void expect_runs_right(int size) {
    constexpr std::int64_t kLd = 16384, kCols = 8 * 512 + 100;
    const std::int64_t line = 64 / size;
    expect_right({.rows = 9 * kMiB / size / kCols / line * line + 2,
                  .cols = kCols,
                  .element_size = size,
                  .destination_ld = kLd,
                  .source_offset = 3,
                  .destination_offset = line - 1});
}

// Squares that are copied first, because their rows fall into the same cache sets.
inline void expect_copies_right(int size) {
    constexpr std::int64_t kPitch = 128 << 10, kDestinationPitch = 192;
    const std::int64_t line = 64 / size;
    expect_right({.rows = 2 * line + 5,
                  .cols = kPitch / size - 100,
                  .element_size = size,
                  .source_ld = kPitch / size,
                  .destination_ld = kDestinationPitch / size,
                  .source_offset = 3,
                  .destination_offset = line - 1});
}

// Matrices larger than the caches: one or two for each method, and one in place.
inline void expect_large_right(int size) {
    // Lines that are joined from pieces, with one strip and with two strips at a time, and whole lines.
    const std::int64_t cols = 3 * kMiB / 1000 / size;
    expect_right({.rows = 3001, .cols = cols, .element_size = size});
    expect_two_strips_right(size);
    if (size <= 2) {  // larger elements would take up to a GiB, or are not copied
        expect_runs_right(size);
        expect_copies_right(size);
    }
    for (const std::int64_t offset : {0, 1}) {
        expect_right({.rows = 3008, .cols = cols, .element_size = size, .destination_offset = offset});
        expect_right({.rows = 9 * kMiB / 64 / size, .cols = 64, .element_size = size, .destination_offset = offset});
    }
    // Images, and strips with pieces of several lines.
    expect_right({.rows = 30, .cols = 33, .element_size = size, .count = 9 * kMiB / (30 * 33 * size)});
    expect_right({.rows = 9 * kMiB / (7 * size), .cols = 7, .element_size = size});
    expect_right(
        {.rows = 401, .cols = 401, .element_size = size, .source_ld = 403, .destination_ld = 403, .in_place = true});
}

// Calls f once for each instruction set of the processor, the scalar one last. Prints their names.
template <class F>
void for_each_set_of_instructions(F f) {
    std::set<std::string> seen;
    for (auto left = hwy::SupportedTargets() | HWY_SCALAR; left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & ~(left - 1));
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        const std::string target = host::kernels_for(1).target;
        if (!seen.insert(target).second) continue;
        SCOPED_TRACE(target);
        std::printf("%s\n", target.c_str());
        f();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace cornerturn::tests
