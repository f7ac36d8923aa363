// The verifier finds every byte that a kernel could get wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "batch_shapes.hpp"
#include "core/pattern.hpp"
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "device/registry.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

constexpr int kElementSizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 100, kMostElementBytes};

// A problem solved by the host's reference.
std::unique_ptr<host_problem> solved(const problem_shape& shape) {
    auto problem = std::make_unique<host_problem>(shape);
    problem->prepare();
    tests::run(find_kernel("host/reference"), backend::host, problem->work());
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
    for (std::uint64_t i = 0; i < 100000; ++i) {
        EXPECT_TRUE(normal(typed_elements<std::uint32_t>{1, false, true}.value(i), 0.0f));
        EXPECT_TRUE(normal(typed_elements<std::uint64_t>{1, false, true}.value(i), 0.0));
        const bits128 pair = typed_elements<bits128>{1, false, true}.value(i);
        EXPECT_TRUE(normal(pair.low, 0.0) && normal(pair.high, 0.0));
        others += !normal(typed_elements<std::uint32_t>{1, false, false}.value(i), 0.0f);
    }
    EXPECT_GT(others, 0);  // other elements have any bit pattern
}

// Any matrix of some thousand elements has all bits set, none, -0, infinity, a denormal, and NaNs with payloads.
TEST(pattern, has_special_values) {
    const auto expect_specials = [](auto zero, int fraction) {
        using word = decltype(zero);
        const word sign = static_cast<word>(word{1} << (8 * sizeof(word) - 1));
        const word infinite = static_cast<word>(static_cast<word>(sign - 1) >> fraction << fraction);
        const word quiet = static_cast<word>(word{1} << (fraction - 1));
        for (std::uint64_t seed : {1, 2, 3}) {
            std::set<word> all;
            int quiet_nans = 0, signalling_nans = 0;
            for (std::uint64_t i = 0; i < 8192; ++i) {
                const word value = typed_elements<word>{seed, false, false}.value(i);
                all.insert(value);
                const bool is_nan = (value & infinite) == infinite && (value & (quiet | (quiet - 1))) != 0;
                quiet_nans += is_nan && (value & quiet) != 0;
                signalling_nans += is_nan && (value & quiet) == 0;
            }
            for (word wanted : {static_cast<word>(~zero), zero, sign, infinite, static_cast<word>(1)})
                EXPECT_TRUE(all.contains(wanted)) << wanted << " of " << sizeof(word) << " bytes, seed " << seed;
            EXPECT_GT(quiet_nans, 8);
            EXPECT_GT(signalling_nans, 4);
        }
    };
    expect_specials(std::uint16_t{0}, 7);
    expect_specials(std::uint32_t{0}, 23);
    expect_specials(std::uint64_t{0}, 52);
}

TEST(verifier, accepts_the_reference_and_nothing_else) {
    for (int size : kElementSizes) {
        for (auto [rows, cols] : {std::pair{0, 0}, {0, 7}, {7, 0}, {1, 1}, {1, 9}, {9, 1}, {17, 23}}) {
            const problem_shape shape{.rows = rows,
                                      .cols = cols,
                                      .element_size = size,
                                      .source_ld = cols + 3,
                                      .destination_ld = rows + 5,
                                      .source_offset = 1,
                                      .destination_offset = 2};
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

TEST(verifier, finds_any_single_byte_changed_in_a_batch) {
    for (int size : {1, 3, 4}) {
        for (const problem_shape& shape : tests::batch_shapes(size)) {
            const auto problem = solved(shape);
            ASSERT_EQ(problem->check().fault, "") << tests::name(shape);
            for (const guarded_buffer* buffer : {&problem->source(), &problem->destination()}) {
                for (std::int64_t i = -1; i <= buffer->size(); ++i) {
                    buffer->data()[i] ^= 0x10;
                    EXPECT_NE(problem->check().fault, "") << "byte " << i << " of " << tests::name(shape);
                    buffer->data()[i] ^= 0x10;
                }
            }
            EXPECT_EQ(problem->check().fault, "");
        }
    }
}

TEST(verifier, accepts_batches_of_any_element_size) {
    for (int size : kElementSizes) {
        for (const problem_shape& shape : tests::batch_shapes(size)) {
            const verdict found = solved(shape)->check();
            EXPECT_EQ(found.fault, "") << tests::name(shape);
            EXPECT_EQ(found.elements, shape.rows * shape.cols * shape.count) << tests::name(shape);
        }
    }
}

TEST(verifier, gives_the_elements_of_a_batch_different_values) {
    const auto problem = solved({.rows = 40, .cols = 30, .count = 7});
    for (const guarded_buffer* buffer : {&problem->source(), &problem->destination()}) {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(buffer->data());
        // One in 64 is a special value, and some of these occur twice.
        EXPECT_GT(std::set<std::uint32_t>(words, words + 40 * 30 * 7).size(), 40u * 30 * 7 * 62 / 64);
    }
}

// Does the work by `run` and returns the fault.
template <class Run>
std::string fault_of(const problem_shape& shape, Run run) {
    host_problem problem(shape);
    problem.prepare();
    run(problem.work());
    return problem.check().fault;
}

void transpose(const matrix_work& work) { tests::run(find_kernel("host/reference"), backend::host, work); }

// Expects the message of a wrong element with its bits from before the run, which are at most 64.
void expect_unwritten(const std::string& fault, const problem_shape& shape, const coordinates& at) {
    const std::vector<std::uint64_t> shown = tests::hex_numbers(fault);  // the found and the right bits
    ASSERT_EQ(shown.size(), 2u) << fault;
    host_problem problem(shape);
    problem.prepare();
    const std::int64_t position = shape.checked().before(side::destination).position(at);
    std::uint64_t before = 0;
    std::memcpy(&before, static_cast<const char*>(problem.work().destination) + position * shape.element_size,
                static_cast<std::size_t>(shape.element_size));
    EXPECT_EQ(shown[0], before) << fault;
}

TEST(verifier, finds_matrices_of_a_batch_swapped) {
    const problem_shape shape{.rows = 5, .cols = 3, .element_size = 3, .count = 4, .destination_stride = 16};
    const std::string fault = fault_of(shape, [](const matrix_work& work) {
        transpose(work);
        char* const matrices = static_cast<char*>(work.destination);
        std::swap_ranges(matrices + 16 * 3, matrices + (16 + 15) * 3, matrices + 2 * 16 * 3);
    });
    EXPECT_NAMES(fault, "destination", 0, 0, 1, "source", 0, 0);  // row, column and matrix; row and column
    EXPECT_EQ(tests::hex_numbers(fault).size(), 2u) << fault;
}

TEST(verifier, finds_a_matrix_of_a_batch_unwritten) {
    for (const problem_shape& shape : tests::batch_shapes(5)) {
        if (shape.elements() == 0) continue;
        const std::string fault = fault_of(shape, [](matrix_work work) {
            --work.count;
            transpose(work);
        });
        SCOPED_TRACE(tests::name(shape));
        const std::int64_t last = shape.count - 1, col = shape.in_place ? 1 : 0;  // in place, the diagonal is right
        if (last > 0) {
            EXPECT_NAMES(fault, "destination", 0, col, last, "source", col, 0, "seed", 1);
        } else {
            EXPECT_NAMES(fault, "destination", 0, col, "source", col, 0, "seed", 1);
        }
        expect_unwritten(fault, shape, {last, 0, col});
    }
}

TEST(verifier, finds_all_matrices_written_to_the_first) {
    const problem_shape shape{.rows = 5, .cols = 3, .count = 4};
    EXPECT_NE(fault_of(shape,
                       [](matrix_work work) {
                           work.destination_stride = 0;
                           transpose(work);
                       }),
              "");
}

TEST(verifier, finds_gaps_of_a_batch_overwritten) {
    const auto overwrites = [](const problem_shape& shape, std::int64_t element) {
        return fault_of(shape, [=](const matrix_work& work) {
            transpose(work);
            static_cast<char*>(work.destination)[element * shape.element_size + 1] ^= 1;
        });
    };
    // The destination's matrices have 3 rows of 5.
    // The messages name the row, the matrix, and the byte in the gap.
    EXPECT_NAMES(overwrites({.rows = 5, .cols = 3, .element_size = 3, .count = 4, .destination_stride = 20}, 20 + 17),
                 2, 1, "destination", 7);
    EXPECT_NAMES(
        overwrites({.rows = 5, .cols = 3, .destination_ld = 30, .count = 4, .destination_stride = 6}, 30 + 6 + 5), 1, 1,
        "destination", 1);
    EXPECT_NAMES(overwrites({.rows = 5, .cols = 3, .destination_ld = 7}, 7 + 6), 1, "destination", 5);
}

TEST(verifier, finds_one_wrong_byte_of_a_long_or_odd_element) {
    const auto spoiled = [](int size, int byte) {
        return fault_of({.rows = 2, .cols = 3, .element_size = size}, [=](const matrix_work& work) {
            transpose(work);
            static_cast<char*>(work.destination)[3 * size + byte] ^= 1;
        });
    };
    for (int byte : {0, 1, 2}) {
        const std::string fault = spoiled(3, byte);
        EXPECT_NAMES(fault, "destination", 1, 1, "source", 1, 1);
        const std::vector<std::uint64_t> bits = tests::hex_numbers(fault);
        ASSERT_EQ(bits.size(), 2u) << fault;
        EXPECT_EQ(bits[0] ^ bits[1], std::uint64_t{1} << 8 * byte) << fault;
    }
    EXPECT_NAMES(spoiled(100, 99), "destination", 1, 1, 96, "source", 1, 1);  // the part from byte 96 on
    EXPECT_EQ(tests::hex_numbers(spoiled(100, 99)).size(), 2u);
}

TEST(verifier, finds_a_transpose_in_place_that_was_not_done) {
    const problem_shape shape{.rows = 9, .cols = 9, .in_place = true};
    const std::string untouched = fault_of(shape, [](const matrix_work&) {});
    EXPECT_NAMES(untouched, "destination", 0, 1, "source", 1, 0);
    expect_unwritten(untouched, shape, {0, 0, 1});
    EXPECT_NE(fault_of(shape,
                       [](const matrix_work& work) {
                           transpose(work);
                           transpose(work);
                       }),
              "");
    // Each element is read after its mirror image was written.
    const std::string overtaken = fault_of(shape, [](const matrix_work& work) {
        auto* const words = static_cast<std::uint32_t*>(work.destination);
        for (int row = 0; row < 9; ++row) {
            for (int col = 0; col < 9; ++col) words[col * 9 + row] = words[row * 9 + col];
        }
    });
    EXPECT_NE(overtaken, "");
}

// The coordinates of every position of a batch, compared with a simple map. Also beyond 2^31 elements.
TEST(verifier, knows_the_coordinates_of_each_position) {
    for (const problem_shape& shape : tests::batch_shapes(1)) {
        for (side which : {side::source, side::destination}) {
            const patterned_batch b = shape.checked().after(which);
            if (b.empty()) continue;
            std::map<std::int64_t, coordinates> rows;  // by first position
            for (std::int64_t matrix = 0; matrix < b.count; ++matrix) {
                for (std::int64_t row = 0; row < b.rows; ++row) {
                    rows[matrix * b.stride + row * b.ld] = {matrix, row, 0};
                }
            }
            EXPECT_EQ(b.row_count(), static_cast<std::int64_t>(rows.size()));
            for (std::int64_t i = 0; i < b.positions(); ++i) {
                const auto& [begin, row] = *std::prev(rows.upper_bound(i));
                const coordinates found = b.coordinates_at(i);
                EXPECT_EQ(std::tuple(found.matrix, found.row, found.col), std::tuple(row.matrix, row.row, i - begin))
                    << "position " << i << " of " << tests::name(shape);
                EXPECT_EQ(b.position(found), i);
            }
        }
    }
    for (const problem_shape& shape :
         {problem_shape{.rows = 70001, .cols = 60013, .count = 50}, problem_shape{.rows = 70001,
                                                                    .cols = 60013,
                                                                    .source_ld = 3100000,
                                                                    .destination_ld = 3600000,
                                                                    .count = 50,
                                                                    .source_stride = 61000,
                                                                    .destination_stride = 71000}}) {
        for (side which : {side::source, side::destination}) {
            const patterned_batch b = shape.checked().after(which);
            const coordinates last = b.coordinates_at(b.positions() - 1);
            EXPECT_EQ(std::tuple(last.matrix, last.row, last.col), std::tuple(49, b.rows - 1, b.cols - 1));
            EXPECT_EQ(b.index(last), 50ull * 70001 * 60013 - 1);
        }
    }
}

TEST(verifier, nothing_written_never_passes) {
    for (int size : kElementSizes) {
        host_problem problem({.rows = 64, .cols = 64, .element_size = size});
        problem.prepare();
        EXPECT_NAMES(problem.check().fault, "destination", 0, 0, "source", 0, 0);
        // No element of the poison may be right by chance.
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
    EXPECT_NAMES(problem.check(tiles).fault, "destination", 510, 970, "source", 970, 510);
}

TEST(shapes, impossible_ones_are_refused) {
    EXPECT_THROW((problem_shape{.rows = -1, .cols = 3}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 3, .source_ld = 2}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .destination_ld = 2}.checked()), invalid_argument);
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW((problem_shape{.rows = huge, .cols = 2}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = huge / 4, .cols = 1, .element_size = 8}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = std::int64_t{1} << 30, .cols = std::int64_t{1} << 30}.checked()),
                 invalid_argument);
    for (int size : {-1, 0, kMostElementBytes + 1}) {
        EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .element_size = size}.checked()), invalid_argument);
    }
}

TEST(shapes, impossible_batches_are_refused) {
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .count = -1}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .count = 2, .source_stride = -12}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .count = 2, .source_stride = 11}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .source_ld = 7, .count = 2, .source_stride = 4}.checked()),
                 invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .source_ld = 9, .count = 2, .source_stride = 3}.checked()),
                 invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .count = huge / 4}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .count = 2, .source_stride = huge}.checked()), invalid_argument);
    EXPECT_NO_THROW((problem_shape{.rows = 3, .cols = 4, .source_ld = 8, .count = 2, .source_stride = 4}.checked()));
    EXPECT_NO_THROW((problem_shape{.rows = 3, .cols = 4, .count = 1, .source_stride = 1}.checked()));
    EXPECT_NO_THROW((problem_shape{.rows = 0, .cols = 4, .count = huge}.checked()));
}

TEST(shapes, in_place_needs_a_square_and_one_layout) {
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 4, .in_place = true}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 3, .source_ld = 4, .in_place = true}.checked()), invalid_argument);
    EXPECT_THROW((problem_shape{.rows = 3, .cols = 3, .count = 2, .source_stride = 10, .in_place = true}.checked()),
                 invalid_argument);
    EXPECT_THROW((problem_shape{.arranged = copied, .rows = 3, .cols = 3, .in_place = true}.checked()),
                 invalid_argument);
}

TEST(registry, kernels_take_the_sizes_that_they_name) {
    kernel k{};
    k.facts.element_sizes = 1 | 2 | 4;
    for (int size : {1, 2, 4}) EXPECT_TRUE(k.takes(size)) << size;
    for (int size : {-4, 0, 3, 5, 6, 7, 8, 12, 16, 100}) EXPECT_FALSE(k.takes(size)) << size;
    k.facts.element_sizes = kAnyElementSize;
    for (int size : {1, 3, 4, 100, 4096}) EXPECT_TRUE(k.takes(size)) << size;
    for (int size : {-1, 0}) EXPECT_FALSE(k.takes(size)) << size;
}

TEST(registry, suggests_the_nearest_id) {
    try {
        find_kernel("transpose/paded@32x8");
        ADD_FAILURE();
    } catch (const invalid_argument& mistake) {
        EXPECT_NAMES(mistake.what(), "transpose/paded@32x8", "transpose/padded@32x8");
    }
}

}  // namespace
