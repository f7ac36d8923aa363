// cornerturn::transpose on host memory moves every element, bit for bit, and changes nothing else.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "batch_shapes.hpp"
#include "cornerturn/cornerturn.h"
#include "fenced.hpp"
#include "host_transposes.hpp"
#include "message.hpp"
#include "random_gaps.hpp"

using namespace cornerturn;
using tests::expect_right;
using tests::fenced;
using tests::kMiB;
using tests::kSizes;
using tests::transpose_work;

namespace {

TEST(host_transpose, edges_of_every_block) {
    for (int size : {1, 2, 4, 8, 16, 3, 12}) {
        for (std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 257}) {
            for (std::int64_t cols : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 32, 47, 64, 129, 256, 260}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows,
                                                      .cols = cols,
                                                      .element_size = size,
                                                      .source_ld = cols + 3,
                                                      .destination_ld = rows + 1,
                                                      .source_offset = 1,
                                                      .destination_offset = 2}));
            }
        }
    }
}

// With each instruction set of the processor, and with scalar code.
TEST(host_transpose, every_instruction_set) {
    tests::for_each_set_of_instructions([] {
        for (int size : kSizes) {
            for (std::int64_t rows : {1, 2, 3, 5, 7, 8, 9, 16, 33, 65, 257}) {
                for (std::int64_t cols : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 64, 129}) {
                    ASSERT_NO_FATAL_FAILURE(expect_right({.rows = rows, .cols = cols, .element_size = size}));
                }
            }
        }
    });
}

// With the default instruction set. long/host_large_test.cpp runs the others, and more shapes.
TEST(host_transpose, larger_than_the_caches) {
    for (int size : kSizes) ASSERT_NO_FATAL_FAILURE(tests::expect_large_right(size));
}

TEST(host_transpose, random_shapes_strides_offsets_and_sizes) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    constexpr int kAll[] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 3, 5, 6, 7, 12, 24, 32, 48, 64, 100, 1000};
    for (int round = 0; round < 200; ++round) {
        problem_shape s{.element_size = kAll[up_to(20)], .seed = seed};
        const std::int64_t most = round % 10 == 0 ? 24 * kMiB : kMiB;
        const auto extent = [&] { return up_to(4) == 0 ? up_to(most) : up_to(1) == 0 ? up_to(4000) : up_to(70); };
        s.rows = extent();
        s.cols = extent();
        while (s.rows * s.cols * s.element_size > most) (s.rows > s.cols ? s.rows : s.cols) /= 2;
        s.in_place = up_to(5) == 0;
        if (s.in_place) s.rows = s.cols = std::min<std::int64_t>({s.rows, s.cols, 700});
        if (up_to(2) == 0) s.count = 1 + up_to(300);
        if (s.rows * s.cols * s.element_size * s.count > most) s.count = 1;
        tests::add_gaps(s, up_to, 70);
        ASSERT_NO_FATAL_FAILURE(expect_right(s, {.threads = static_cast<int>(up_to(3))}));
    }
}

TEST(host_transpose, batches) {
    for (int size : {1, 2, 4, 8, 16, 3}) {
        for (const problem_shape& shape : tests::batch_shapes(size)) {
            ASSERT_NO_FATAL_FAILURE(expect_right(shape));
        }
        for (auto [rows, cols] :
             {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {32, 32}, {33, 31}, {100, 100}, {300, 500}}) {
            for (std::int64_t bytes : {kMiB, 10 * kMiB}) {
                ASSERT_NO_FATAL_FAILURE(expect_right(
                    {.rows = rows, .cols = cols, .element_size = size, .count = bytes / (rows * cols * size) + 2}));
            }
        }
    }
}

TEST(host_transpose, in_place) {
    for (int size : {1, 2, 4, 8, 16, 3, 12, 40, 64, 100}) {
        for (std::int64_t n : {1, 2, 31, 64, 65, 128, 300, 513, 1100}) {
            for (std::int64_t gap : {0, 1, 16}) {
                ASSERT_NO_FATAL_FAILURE(expect_right({.rows = n,
                                                      .cols = n,
                                                      .element_size = size,
                                                      .source_ld = n + gap,
                                                      .destination_ld = n + gap,
                                                      .count = n < 100 ? 5 : 1,
                                                      .in_place = true}));
            }
        }
    }
}

// Many blocks of tiles, the last ones partial. Rows that begin in the same cache set. Batches. Large elements.
TEST(host_transpose, in_place_of_many_blocks) {
    const problem_shape shapes[] = {
        {.rows = 9'000, .cols = 9'000, .element_size = 1, .source_ld = 10'240, .destination_ld = 10'240},
        {.rows = 2'050, .cols = 2'050, .element_size = 8, .source_ld = 3'072, .destination_ld = 3'072},
        {.rows = 1'030, .cols = 1'030, .element_size = 4, .source_ld = 2'048, .destination_ld = 2'048, .count = 64},
        {.rows = 1'111, .cols = 1'111, .element_size = 24, .source_ld = 1'112, .destination_ld = 1'112},
        {.rows = 333, .cols = 333, .element_size = 100, .source_ld = 335, .destination_ld = 335, .count = 3},
        {.rows = 77, .cols = 77, .element_size = 1'000, .source_ld = 77, .destination_ld = 77},
        {.rows = 19, .cols = 19, .element_size = 4'096, .source_ld = 19, .destination_ld = 19, .count = 4}};
    for (problem_shape shape : shapes) {
        shape.in_place = true;
        ASSERT_NO_FATAL_FAILURE(expect_right(shape));
    }
}

TEST(host_transpose, empty_matrices) {
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 5}, {5, 0}}) {
        const matrix_view<const float> source{nullptr, rows, cols, cols};
        const matrix_view<float> destination{nullptr, cols, rows, rows};
        EXPECT_NO_THROW(transpose(source, destination));
    }
    EXPECT_NO_THROW(transpose_in_place(batch_view<double>{nullptr, 3, 3, 3, 0, 9}));
}

TEST(host_transpose, moves_bits_of_any_type) {
    struct point {
        float x, y, z;
        bool operator==(const point&) const = default;
    };
    const std::vector<point> in = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}, {16, 17, 18}};
    std::vector<point> out(in.size());
    transpose(matrix_view<const point>{in.data(), 2, 3, 3}, matrix_view<point>{out.data(), 3, 2, 2});
    EXPECT_EQ(out, (std::vector<point>{in[0], in[3], in[1], in[4], in[2], in[5]}));
    // NaN payloads.
    std::vector<std::uint32_t> bits(64 * 64);
    std::iota(bits.begin(), bits.end(), 0x7fa00000u);
    std::vector<float> numbers(bits.size()), transposed(bits.size());
    std::memcpy(numbers.data(), bits.data(), bits.size() * sizeof(float));
    matrix_view<float> view{numbers.data(), 64, 64, 64};
    transpose(view, matrix_view<float>{transposed.data(), 64, 64, 64});  // a mutable view can be a source
    std::uint32_t found;
    std::memcpy(&found, &transposed[64 * 3 + 5], sizeof found);
    EXPECT_EQ(found, bits[64 * 5 + 3]);
    std::vector<std::complex<double>> c(9);
    c[1] = {1, 2};
    transpose_in_place(matrix_view<std::complex<double>>{c.data(), 3, 3, 3});
    EXPECT_EQ(c[3], (std::complex<double>{1, 2}));
}

TEST(host_transpose, many_threads_at_once) {
    std::vector<std::string> faults(6);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < faults.size(); ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 5; ++i) {
                    host_problem problem({.rows = 1000 + static_cast<std::int64_t>(t),
                                          .cols = 3000 + 7 * i,
                                          .element_size = kSizes[(t + static_cast<std::size_t>(i)) % 5]});
                    problem.prepare();
                    transpose_work(problem.work(), {.threads = i % 3});
                    if (const std::string fault = problem.check().fault; !fault.empty()) faults[t] = fault;
                }
            });
        }
    }
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

// ---- Mistakes -------------------------------------------------------------------------------------------------------

template <class F>
std::string refused(F f) {
    try {
        f();
    } catch (const invalid_argument& e) {
        return e.what();
    }
    return "not refused";
}

TEST(host_transpose, message_names_argument_and_value) {
    std::vector<float> in(100), out(100);
    const matrix_view<const float> source{in.data(), 5, 7, 7};
    const matrix_view<float> destination{out.data(), 7, 5, 5};
    const auto with_source = [&](auto change) {
        matrix_view<const float> m = source;
        change(m);
        return refused([&] { transpose(m, destination); });
    };
    EXPECT_NAMES(with_source([](auto& m) { m.rows = -1; }), "source.rows", -1);
    EXPECT_NAMES(with_source([](auto& m) { m.ld = 6; }), "source.ld", 6, 7);
    EXPECT_NAMES(with_source([](auto& m) { m.data = nullptr; }), "source.data", "null");
    EXPECT_NAMES(with_source([](auto& m) { m.rows = 4; }), "destination", "7 x 5", "7 x 4", "4 x 7");
    EXPECT_NAMES(refused([&] { transpose(source, destination, {.threads = -2}); }), "options.threads", -2);
    const matrix_view<float> overlapping{in.data() + 3, 7, 5, 5};
    EXPECT_NAMES(refused([&] { transpose(source, overlapping); }), "destination", in.data() + 3, "source", in.data());
    constexpr std::int64_t kMany = std::int64_t{1} << 40;
    const matrix_view<const float> huge{in.data(), kMany, kMany, kMany};
    EXPECT_NAMES(refused([&] {
                     transpose(huge, matrix_view<float>{out.data(), kMany, kMany, kMany});
                 }),
                 "source", kMany, 64);
    EXPECT_EQ(std::count(out.begin(), out.end(), 0.0f), 100) << "refused calls must not write";
}

// ---- No access outside the matrices ---------------------------------------------------------------------------------

TEST(host_transpose, no_access_before_or_after_the_matrices) {
    for (int size : {1, 2, 4, 8, 16, 3}) {
        for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                  {3, 5},
                                  {5, 3},
                                  {63, 7},
                                  {7, 63},
                                  {64, 7},
                                  {7, 64},
                                  {48, 5},
                                  {5, 48},
                                  {64, 15},
                                  {15, 64},
                                  {200, 2},
                                  {2, 200},
                                  {100, 100},
                                  {9 * kMiB / 7 / size, 7},
                                  {7, 9 * kMiB / 7 / size},
                                  {13, 9 * kMiB / 13 / size},
                                  {3001, 9 * kMiB / 3001 / size}}) {
            for (const std::int64_t gap : {0, 3}) {
                const fenced source(((rows - 1) * (cols + gap) + cols) * size);
                const fenced destination(((cols - 1) * (rows + gap) + rows) * size);
                for (const bool end : {false, true}) {
                    const matrix_work work{source.at(end), destination.at(end), rows, cols,
                                           cols + gap,     rows + gap,          size};
                    ASSERT_NO_THROW(transpose_work(work));
                }
            }
        }
        for (std::int64_t n : {1, 5, 16, 65, 100, 401}) {  // in place
            for (const std::int64_t gap : {0, 3}) {
                const fenced matrix(((n - 1) * (n + gap) + n) * size);
                for (const bool end : {false, true}) {
                    ASSERT_NO_THROW(transpose_work({matrix.at(end), matrix.at(end), n, n, n + gap, n + gap, size}));
                }
            }
        }
    }
}

// A matrix that is larger than the caches.
TEST(host_transpose, elements_at_any_address) {
    for (const std::int64_t gap : {0, 3}) {
        constexpr std::int64_t kRows = 1024, kCols = 1100;
        const std::int64_t ld = kRows + gap;
        std::vector<std::uint64_t> in(kRows * kCols);
        std::iota(in.begin(), in.end(), std::uint64_t{1} << 40);
        std::vector<unsigned char> out(static_cast<std::size_t>(kCols * ld) * 8 + 1, 99);
        transpose_work({in.data(), out.data() + 1, kRows, kCols, kCols, ld, 8});
        for (std::int64_t i = 0; i < kRows * kCols; ++i) {
            const std::int64_t row = i / kCols, col = i % kCols;
            ASSERT_EQ(std::memcmp(out.data() + 1 + (col * ld + row) * 8, &in[i], 8), 0) << row << ", " << col;
        }
        EXPECT_EQ(out[0], 99);
        for (std::int64_t col = 0; col < kCols; ++col) {
            for (std::int64_t byte = kRows * 8; byte < ld * 8; ++byte) ASSERT_EQ(out[1 + col * ld * 8 + byte], 99);
        }
    }
}

// C functions know no alignment of the addresses. Matrices here are small, or larger than the caches.
TEST(host_transpose, c_functions_at_any_address) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
    for (int round = 0; round < 300; ++round) {
        constexpr int kAllSizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
        const std::int64_t size = kAllSizes[up_to(8)], elements = (round % 20 == 0 ? 9 * kMiB : 4096) / size;
        const bool in_place = up_to(3) == 0;
        std::int64_t rows = std::lround(std::exp2(double(up_to(1000)) / 1000 * std::log2(double(elements))));
        std::int64_t cols = elements / rows;
        if (in_place) rows = cols = std::lround(std::sqrt(double(elements)));
        const std::int64_t ld = cols + up_to(3), to_ld = in_place ? ld : rows + up_to(3);
        const std::int64_t from = up_to(63), to = up_to(63);
        const int threads = static_cast<int>(up_to(3));
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " of " + std::to_string(size) + " bytes, ld " + std::to_string(ld) + " and " +
                     std::to_string(to_ld) + ", at " + std::to_string(from) + " and " + std::to_string(to) +
                     (in_place ? ", in place" : ""));
        std::vector<unsigned char> in(static_cast<std::size_t>(rows * ld * size + 128)), out;
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
        out.assign(static_cast<std::size_t>(cols * to_ld * size + 128), 0xee);
        if (in_place) out = in;
        std::vector<unsigned char> expected = out;
        unsigned char* const destination = out.data() + (in_place ? from : to);
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t col = 0; col < cols; ++col) {
                std::memcpy(expected.data() + (destination - out.data()) + (col * to_ld + row) * size,
                            in.data() + from + (row * ld + col) * size, static_cast<std::size_t>(size));
            }
        }
        const auto status =
            in_place ? cornerturn_transpose_in_place(destination, rows, ld, size, threads)
                     : cornerturn_transpose(in.data() + from, rows, cols, ld, destination, to_ld, size, threads);
        ASSERT_EQ(status, CORNERTURN_OK) << cornerturn_last_error();
        ASSERT_TRUE(out == expected);
    }
}

// A call with one thread does not start the scheduler of oneTBB. A new thread has none yet.
TEST(host_transpose, one_thread_does_not_start_onetbb) {
    std::vector<float> in(3000 * 1000), out(in.size());
    const auto initialized = [] {
        return tbb::this_task_arena::current_thread_index() != tbb::task_arena::not_initialized;
    };
    std::thread([&] {
        for (const std::int64_t rows : {1, 30, 3000}) {
            transpose(matrix_view{in, rows, 1000}, matrix_view{out, 1000, rows}, {.threads = 1});
            transpose_in_place(matrix_view{in, rows % 1000, rows % 1000, 1000}, {.threads = 1});
        }
        // A call with more threads does not start it either, if the matrix is one task.
        for (const int threads : {2, 5})
            transpose(matrix_view{in, 100, 90}, matrix_view{out, 90, 100}, {.threads = threads});
        EXPECT_FALSE(initialized());
        transpose(matrix_view{in, 3000, 1000}, matrix_view{out, 1000, 3000}, {.threads = 2});
        EXPECT_TRUE(initialized()) << "the check above cannot fail";
    }).join();
}

TEST(host_transpose, works_in_a_cancelled_task_group) {
    for (const int threads : {0, 1, 2}) {
        std::vector<float> in(1000 * 700, 1), out(in.size());
        tbb::task_group group;
        group.run_and_wait([&] {
            group.cancel();
            transpose(matrix_view{in, 1000, 700}, matrix_view{out, 700, 1000}, {.threads = threads});
        });
        EXPECT_EQ(in, out) << threads;
    }
}

// In a new process, where oneTBB has no thread yet, and as a user who may not start any.
TEST(host_transpose, goes_on_without_threads) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto run = [] {
        const rlimit none{1, 1};
        const uid_t user = 1 << 20;  // not root: root has no such limit
        if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setresuid(user, user, user) != 0)) _exit(2);
        std::thread one;
        EXPECT_THROW(one = std::thread([] {}), std::system_error);
        if (one.joinable()) one.join();
        for (const std::int64_t cols : {2048, 1999}) expect_right({.rows = 2048, .cols = cols, .element_size = 4});
        expect_right({.rows = 2000, .cols = 2000, .element_size = 4, .in_place = true});
        _exit(testing::Test::HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

// Elements that are larger than the verifier's limit.
TEST(host_transpose, large_elements) {
    constexpr std::int64_t kSize = 100'003, kRows = 9, kCols = 11;
    std::vector<unsigned char> in(kRows * kCols * kSize), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
    const auto expect_transposed = [&](const unsigned char* transposed, std::int64_t rows, std::int64_t cols) {
        for (std::int64_t i = 0; i < rows * cols; ++i) {
            const std::int64_t row = i / cols, col = i % cols;
            ASSERT_EQ(std::memcmp(transposed + (col * rows + row) * kSize, in.data() + i * kSize, kSize), 0) << i;
        }
    };
    transpose_work({in.data(), out.data(), kRows, kCols, kCols, kRows, kSize});
    expect_transposed(out.data(), kRows, kCols);
    out = in;
    transpose_work({out.data(), out.data(), kRows, kRows, kRows, kRows, kSize});
    expect_transposed(out.data(), kRows, kRows);
}

TEST(host_transpose, a_single_row_may_have_any_leading_dimension) {
    const std::vector<double> in = {1, 2, 3};
    std::vector<double> out(3);
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    transpose(matrix_view<const double>{in.data(), 1, 3, kHuge}, matrix_view<double>{out.data(), 3, 1, 1});
    EXPECT_EQ(out, in);
}

}  // namespace
