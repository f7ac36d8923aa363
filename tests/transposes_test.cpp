// The library's kernels in the emulator, chosen as on a GPU. They move every element, for any element size, shape,
// alignment and batch, and no access is out of bounds or races.
#include <gtest/gtest.h>

#include <random>

#include "describe.hpp"
#include "ladder_check.hpp"
#include "move/policy.hpp"

using namespace cornerturn;

namespace {

const kernel& library() { return find_kernel("transpose/production"); }

std::map<std::string, int> runs;  // by kernel family

// The kernel family for the verifier's buffers, which begin at multiples of 256 bytes.
std::string family_of(const problem_shape& shape) {
    const problem_shape checked = shape.checked();
    matrix_work work = checked.work(nullptr, nullptr);
    work.source = reinterpret_cast<const void*>(256 + checked.source_offset * checked.element_size);
    work.destination =
        checked.in_place
            ? const_cast<void*>(work.source)
            : reinterpret_cast<void*>((std::int64_t{1} << 40) + checked.destination_offset * checked.element_size);
    return moves::name(moves::choose(canonical(work), kH200).by);
}

void expect_right(const problem_shape& shape) {
    ++runs[family_of(shape)];
    const auto found = tests::run_every_block(library(), shape);
    ASSERT_EQ(found.fault, "") << tests::describe(shape.checked());
}

constexpr int kSizes[] = {1, 2, 4, 8, 16};

TEST(transposes, edges_of_every_tile) {
    // Around the sizes at which tiles end and the kernel family changes.
    for (int size : kSizes) {
        for (std::int64_t rows : {1, 2, 7, 16, 31, 33, 63, 65, 113, 129}) {
            for (std::int64_t cols : {1, 3, 8, 15, 32, 63, 64, 66, 121, 128, 131, 249}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
                // Rows that begin at a vector boundary, and end anywhere.
                const auto aligned = [](std::int64_t extent) { return (extent + 31) / 32 * 32; };
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows,
                                                      .cols = cols,
                                                      .element_size = size,
                                                      .source_ld = aligned(cols),
                                                      .destination_ld = aligned(rows)}));
            }
        }
    }
}

TEST(transposes, a_few_rows_and_a_few_columns) {
    for (int size : kSizes) {
        for (std::int64_t few : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
            for (std::int64_t many : {4096, 5003, 20011}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = few, .cols = many, .element_size = size}));
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = many, .cols = few, .element_size = size}));
            }
        }
    }
}

TEST(transposes, whole_tiles_of_aligned_matrices) {
    for (int size : kSizes) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{512, 512}, {64, 1024}, {1024, 32}}) {
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
        }
    }
}

TEST(transposes, elements_of_any_size) {
    // Around the ends of words, sectors and tiles; few rows and few columns.
    for (int size : {3, 5, 6, 7, 9, 10, 12, 14, 20, 24, 40, 48, 100, 127}) {
        for (std::int64_t rows : {1, 3, 4, 33, 64, 97, 259}) {
            for (std::int64_t cols : {1, 2, 5, 16, 63, 65, 130}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows,
                                                      .cols = cols,
                                                      .element_size = size,
                                                      .source_ld = cols + 1,
                                                      .destination_ld = rows + 3,
                                                      .source_offset = 1,
                                                      .destination_offset = 5}));
            }
        }
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{20011, 3}, {5003, 16}, {3, 20011}, {16, 5003}})
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
    }
}

TEST(transposes, whole_tiles_of_elements_of_any_size) {
    // Every row begins at a sector boundary.
    for (int size : {3, 5, 6, 7, 9, 10, 12, 20, 24, 48, 100}) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{256, 256}, {1024, 32}, {32, 1024}})
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
    }
}

TEST(transposes, random_shapes_leading_dimensions_offsets_and_sizes) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for (int round = 0; round < 400; ++round) {
        constexpr int kAll[] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 3, 5, 6, 12, 24, 100, 130};
        problem_shape s{.element_size = kAll[up_to(16)], .seed = seed};
        s.rows = up_to(3) == 0 ? up_to(6000) : up_to(150);
        s.cols = up_to(3) == 0 ? up_to(6000) : up_to(150);
        while (s.rows * s.cols * s.element_size > 1 << 20) (s.rows > s.cols ? s.rows : s.cols) /= 2;
        s.in_place = up_to(5) == 0;
        if (s.in_place) s.rows = s.cols = std::min<std::int64_t>(s.cols, 150);
        s.count = up_to(3) == 0 ? 1 + up_to(20) : 1;
        if (s.rows * s.cols * s.element_size * s.count > 1 << 20) s.count = 1;
        s.source_ld = s.cols + (up_to(1) == 0 ? 0 : up_to(1) == 0 ? 16 * up_to(3) : up_to(9));
        s.destination_ld = s.in_place ? s.source_ld
                                      : s.rows + (up_to(1) == 0   ? 0
                                                  : up_to(1) == 0 ? 16 * up_to(3)
                                                                  : up_to(9));
        if (s.count > 1) {
            s.source_stride = s.rows * s.source_ld + (up_to(2) == 0 ? up_to(40) : 0);
            s.destination_stride =
                s.in_place ? s.source_stride : s.cols * s.destination_ld + (up_to(2) == 0 ? up_to(40) : 0);
        }
        s.source_offset = up_to(1) == 0 ? 0 : up_to(17);
        s.destination_offset = s.in_place ? s.source_offset : up_to(1) == 0 ? 0 : up_to(17);
        ASSERT_NO_FATAL_FAILURE(expect_right(s));
    }
}

TEST(transposes, batches_of_small_matrices) {
    for (int size : kSizes) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                  {2, 2},
                                  {3, 5},
                                  {8, 8},
                                  {32, 32},
                                  {33, 7},
                                  {36, 50},
                                  {100, 20},
                                  {100, 100},
                                  {20, 300},
                                  {200, 132},
                                  {128, 64}}) {
            const std::int64_t count = std::max<std::int64_t>(2, 30000 / (rows * cols));
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size, .count = count}));
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 5, .cols = 5, .count = 0}));
}

TEST(transposes, side_by_side_in_a_larger_matrix) {
    // Matrices of 24 columns next to each other in rows of 1000.
    for (int size : {1, 4, 12}) {
        ASSERT_NO_FATAL_FAILURE(expect_right({.rows = 50,
                                              .cols = 24,
                                              .element_size = size,
                                              .source_ld = 1000,
                                              .destination_ld = 50,
                                              .count = 40,
                                              .source_stride = 25,
                                              .destination_stride = 24 * 50}));
    }
}

TEST(transposes, in_place) {
    for (int size : kSizes) {
        // Few tiles, or many. Many tiles are processed in squares: an even or odd number, with or without partial ones.
        for (std::int64_t n : {1, 16, 100, 256, 272, 528, 1061, 1100}) {
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = n, .cols = n, .element_size = size, .in_place = true}));
        }
    }
    for (int size : {3, 5, 6, 7, 9, 12, 24, 33, 40, 130, 256}) {
        for (std::int64_t n : {2, 31, 70, 150}) {
            ASSERT_NO_FATAL_FAILURE(expect_right({.rows = n, .cols = n, .element_size = size, .in_place = true}));
        }
    }
}

TEST(transposes, one_block_of_each_class_of_huge_aligned_matrices) {
    int classes = 0;
    for (auto [rows, cols, size] : {std::tuple<std::int64_t, std::int64_t, int>{65536, 65536, 4},
                                    {65536, 65568, 1},
                                    // Each size of tile, with and without partial tiles.
                                    {2048, 2080, 1},
                                    {4096, 4096, 1},
                                    {4112, 4128, 1},
                                    {16384, 16384, 1},
                                    {12304, 12336, 1},
                                    {2080, 2064, 2},
                                    {4112, 4096, 2},
                                    {32800, 32784, 2},
                                    {1040, 2056, 4},
                                    {4104, 4128, 4},
                                    {2080, 1028, 8},
                                    {8200, 8196, 8},
                                    {514, 1026, 16},
                                    {2050, 2056, 16},
                                    {6002, 6004, 16},
                                    // Rows of multiples of 128 KiB, which are processed in another order.
                                    {4112, 131072, 1},
                                    {4104, 65536, 2},
                                    {2056, 98304, 4},
                                    {32768, 32768, 4},
                                    {16384, 16384, 8},
                                    {8192, 8192, 16},
                                    {10000, 16384, 8}}) {
        const problem_shape shape{.rows = rows, .cols = cols, .element_size = size};
        const std::string family = family_of(shape);
        if (!family.starts_with("vector")) continue;  // tiles of other families read beyond their own
        ++runs[family], ++classes;
        ASSERT_EQ(tests::run_classes(library(), shape).fault, "") << tests::describe(shape.checked());
    }
    EXPECT_GT(classes, 10);
}

TEST(transposes, many_kernel_families_were_run) {
    // transposes_memory_test runs every kernel.
    for (const char* family : {"vector", "ragged", "tiles", "vector_in_place", "elements_in_place", "blocks_in_place"})
        EXPECT_GT(runs[family], 0) << family;
    for (const auto& [family, count] : runs) std::printf("%6d runs of %s\n", count, family.c_str());
}

}  // namespace
