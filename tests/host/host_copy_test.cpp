// cornerturn::copy and permute in host memory: every element moves, whatever extents and strides, and nothing else is
// touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cornerturn/copy.hpp"
#include "cornerturn/cornerturn.h"
#include "fenced.hpp"
#include "host/paths.hpp"
#include "host/tiling.hpp"
#include "host/ways.hpp"
#include "host_transposes.hpp"
#include "ops/copy/strided_shape.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;
using detail::any_tensor;
using detail::axis_list;
using tests::kMiB;
using tests::strided_problem;

namespace {

const host::team one_thread({.threads = 1});

// Both sides of a problem, and what the destination must hold.
class sides {
public:
    sides(const strided_problem& p, std::uint64_t seed)
        : p_(p),
          source_(static_cast<std::size_t>(p.source_bytes)),
          before_(static_cast<std::size_t>(p.destination_bytes), 0xa5),
          expected_(before_) {
        std::mt19937_64 random(seed);
        for (unsigned char& byte : source_) byte = static_cast<unsigned char>(random());
        p.reference(source_.data(), expected_.data());
    }

    // What the copy did wrong; empty where it was right. copy(source, destination) moves from buffer to buffer.
    template <class Copy>
    std::string fault_of(Copy copy) const {
        std::vector<unsigned char, host::allocator_of_lines<unsigned char>> found(before_.begin(), before_.end());
        copy(source_.data(), found.data());
        const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected_.begin());
        if (wrong == found.end()) return {};
        return "byte " + std::to_string(wrong - found.begin()) + " of the destination is " + std::to_string(*wrong) +
               ", not " + std::to_string(*right) + ": " + p_.text();
    }

private:
    const strided_problem& p_;
    std::vector<unsigned char> source_, before_, expected_;
};

// Whether the library takes it: some sources lie among the destination's elements.
bool is_taken(const strided_problem& p) {
    try {
        p.canonical(reinterpret_cast<void*>(std::uintptr_t{1} << 40), reinterpret_cast<void*>(std::uintptr_t{1} << 42));
        return true;
    } catch (const error&) {
        return false;
    }
}

void copy_problem(const strided_problem& p, const unsigned char* source, unsigned char* destination, int threads) {
    const axis_list n = p.list(p.extents), from = p.list(p.source_strides), to = p.list(p.destination_strides);
    const auto address = [](const void* buffer, std::int64_t at) {
        return reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(at);
    };
    detail::copy(any_tensor{address(source, p.source_at), n, from},
                 any_tensor{address(destination, p.destination_at), n, to}, p.element_size, 1, {.threads = threads});
}

std::uint64_t new_seed() {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

TEST(host_copy, random_extents_strides_and_element_sizes) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 3000; ++round) {
        const strided_problem p = tests::draw_strided(random, round % 50 == 0 ? 4 * kMiB : 1 << 16);
        if (!is_taken(p)) continue;
        const int threads = static_cast<int>(random() % 4);
        ASSERT_EQ(sides(p, seed).fault_of([&](const auto* from, auto* to) { copy_problem(p, from, to, threads); }), "")
            << "seed " << seed << ", round " << round;
    }
}

// Bytes backwards are moved in groups; what is left of the last tile may be anything from one byte on.
TEST(host_copy, bytes_backwards_of_every_length_that_is_left) {
    for (std::int64_t bytes = 42'490; bytes < 42'630; ++bytes) {
        strided_problem p{{bytes}, {-1}, {1}, 1};
        p.lay_out(64, 3, 5);
        ASSERT_EQ(sides(p, 1).fault_of([&](const auto* from, auto* to) { copy_problem(p, from, to, 1); }), "");
    }
}

// Few rows beside two axes of columns: what draws hardly have.
strided_problem few_rows() {
    strided_problem p;
    p.extents = {2, 300, 4};
    p.source_strides = {1, 2, 601};
    p.destination_strides = {1200, 4, 1};
    p.lay_out(64, 3, 5);
    return p;
}

// Six columns of each dozen: the others are moved with them.
strided_problem few_columns() {
    strided_problem p;
    p.extents = {22, 6, 378};
    p.source_strides = {12, 1, 301};
    p.destination_strides = {6 * 378, 378, 1};
    p.lay_out(64, 3, 5);
    return p;
}

// Axes in any order on both sides, rows and columns of whole lines of the destination, which is aligned.
strided_problem draw_lines(std::mt19937_64& random) {
    strided_problem p;
    p.element_size = std::int64_t{1} << random() % 7;
    const std::int64_t line = std::max<std::int64_t>(1, 64 / p.element_size);
    std::vector<std::size_t> order(2 + random() % 3);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        p.extents.push_back(1 +
                            static_cast<std::int64_t>(random() % (i + 1 == order.size() && order.size() > 2 ? 3 : 40)));
    }
    p.extents.back() *= line;
    std::shuffle(order.begin(), order.end(), random);
    p.source_strides.resize(order.size());
    std::int64_t stride = 1;
    for (std::size_t i : order) {
        p.source_strides[i] = random() % 4 == 0 ? -stride : stride;
        stride *= p.extents[i];
    }
    p.destination_strides.resize(order.size());
    stride = 1;
    for (std::size_t i = order.size(); i-- > 0; stride = stride * p.extents[i] + (random() % 3 == 0 ? line : 0))
        p.destination_strides[i] = stride;
    p.lay_out(64, static_cast<std::int64_t>(random() % 32), 0);
    return p;
}

// Small ones as if they were larger than the caches, by each set of instructions. All ways of moving a tile are taken.
TEST(host_copy, tiles_by_every_set_of_instructions) {
    const std::uint64_t seed = new_seed();
    tests::for_each_set_of_instructions([&] {
        std::mt19937_64 random(seed);
        std::map<std::pair<int, bool>, int> taken;  // by way, and whether by way of an image
        int with_gaps = 0;                          // between columns
        for (int round = 0; round < 2700; ++round) {
            const bool in_lines = round >= 2500;
            const strided_problem p = round == 0   ? few_rows()
                                      : round == 1 ? few_columns()
                                      : in_lines   ? draw_lines(random)
                                                   : tests::draw_strided(random, 1 << 15);
            if (!is_taken(p)) continue;
            const bool large = round < 2 || in_lines || random() % 2 == 0;
            const int threads = 1 + static_cast<int>(random() % 2);
            const auto run = [&](const auto* from, auto* to) {
                const strided_copy c = p.canonical(from, to);
                if (c.is_empty()) return;
                if (c.rank == 0) return host::run_runs(c, large, host::team({.threads = threads}));
                const host::tiling t = host::tile(c, large, host::kernels_for(c.run));
                ++taken[{static_cast<int>(t.how), t.image_bytes > 0}];
                std::int64_t columns = 1;
                for (int i : t.cols) columns *= t.axis(i).tile;
                with_gaps += t.how == host::tiling::way::in_vectors && std::ssize(t.cols_at) > columns;
                host::run_tiles(c, large, host::team({.threads = threads}));
            };
            ASSERT_EQ(sides(p, seed).fault_of(run), "") << "seed " << seed << ", round " << round;
        }
        using way = host::tiling::way;
        const bool vectors = host::kernels_for(1).transpose_listed != nullptr;
        for (const way how : {way::gathered, way::in_vectors, way::packed, way::joined, way::shuffled}) {
            for (const bool image : {false, true}) {
                if (!vectors && how != way::gathered) continue;
                if (how == way::joined && !image) continue;  // what is joined and has gaps fits no line
                EXPECT_GT((taken[{static_cast<int>(how), image}]), 0) << static_cast<int>(how) << " " << image;
            }
        }
        if (!vectors) return;
        EXPECT_GT((taken[{static_cast<int>(way::streamed), false}]), 40);
        EXPECT_GT(with_gaps, 0);
    });
}

// Windows that overlap: where they step as far as tiles reach, a short tile and the whole one behind it begin at the
// same element.
TEST(host_copy, windows_that_overlap) {
    for (std::int64_t step = 1; step <= 128; ++step) {
        strided_problem p{{8, 127, 33}, {step, 1, 5}, {127 * 33, 33, 1}, 8};
        p.lay_out(64, 0, 0);
        const auto run = [&](const auto* from, auto* to) { host::run_tiles(p.canonical(from, to), true, one_thread); };
        ASSERT_EQ(sides(p, 1).fault_of(run), "");
    }
}

// Past the caches, with the set of instructions that a user's call chooses, as benches draw them.
TEST(host_copy, past_the_caches) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 24; ++round) {
        const strided_shape s = round % 2 == 0 ? draw_permutation(random, 9 * kMiB, 12 * kMiB)
                                               : draw_transpose(random, 9 * kMiB, 12 * kMiB);
        strided_problem p;
        p.extents = s.extents;
        p.source_strides = s.source_strides;
        p.destination_strides = s.destination_strides;
        p.element_size = s.element_size;
        p.lay_out(64, s.source_offset * s.element_size, s.destination_offset * s.element_size);
        if (p.source_bytes > 200 * kMiB || p.destination_bytes > 200 * kMiB) continue;
        ASSERT_EQ(sides(p, seed).fault_of([&](const auto* from, auto* to) { copy_problem(p, from, to, 0); }), "")
            << "seed " << seed << ", round " << round;
    }
}

// No page without elements is read, and none but the destination's elements written: not beside a tensor, nor between
// its elements.
TEST(host_copy, touches_no_page_beside_the_elements) {
    const std::uint64_t seed = new_seed();
    tests::for_each_set_of_instructions([&] {
        std::mt19937_64 random(seed);
        for (int round = 0; round < 2000; ++round) {
            strided_problem p = tests::draw_strided(random, 1 << 14);
            if (!is_taken(p) || p.elements() == 0) continue;
            p.lay_out(0, 0, 0);
            const tests::fenced source(p.source_bytes), destination(p.destination_bytes);
            for (const bool end : {false, true}) {
                for (const bool large : {false, true}) {
                    const strided_copy c = p.canonical(source.at(end), destination.at(end));
                    if (c.rank > 0) host::run_tiles(c, large, one_thread);
                }
            }
        }
    });
}
TEST(host_copy, touches_no_page_between_the_elements) {
    const long page = sysconf(_SC_PAGESIZE);
    constexpr std::int64_t kRows = 40;
    for (const std::int64_t size : {1, 2, 3, 4, 6, 8, 12}) {
        for (const std::int64_t cols : {1, 2, 3, 5, 9, 21, 70}) {
            // Rows end where a page does, and the next page is not there.
            const std::int64_t pitch = 2 * page;
            const tests::fenced source(kRows * pitch);
            unsigned char* const first = source.at(false);
            for (std::int64_t row = 0; row < kRows; ++row) {
                for (std::int64_t i = 0; i < cols * size; ++i)
                    first[row * pitch + page - cols * size + i] = static_cast<unsigned char>(row * 31 + i);
                ASSERT_EQ(mprotect(first + row * pitch + page, static_cast<std::size_t>(page), PROT_NONE), 0);
            }
            std::vector<unsigned char> out(static_cast<std::size_t>(kRows * cols * size));
            const strided_axis axes[] = {{kRows, pitch, size}, {cols, size, kRows * size}};
            const strided_copy c = canonical(reinterpret_cast<std::uintptr_t>(first + page - cols * size),
                                             reinterpret_cast<std::uintptr_t>(out.data()), size, axes, 2);
            for (const bool large : {false, true}) {
                std::fill(out.begin(), out.end(), 0);
                host::run_tiles(c, large, one_thread);
                for (std::int64_t i = 0; i < kRows * cols * size; ++i) {
                    const std::int64_t col = i / size / kRows, row = i / size % kRows;
                    ASSERT_EQ(out[static_cast<std::size_t>(i)],
                              static_cast<unsigned char>(row * 31 + col * size + i % size));
                }
            }
        }
    }
}

// What each shape takes: in the words of explain().
TEST(host_copy, ways) {
    const auto explained = [](const std::vector<std::int64_t>& extents, const std::vector<int>& axes,
                              std::int64_t size) {
        return host::explain(permuted_shape(extents, axes, size)
                                 .copy(reinterpret_cast<void*>(std::uintptr_t{1} << 40),
                                       reinterpret_cast<void*>(std::uintptr_t{1} << 42)));
    };
    const auto has = [](const std::string& text, const std::string& word) { return text.find(word) != text.npos; };
    EXPECT_TRUE(has(explained({3, 1000}, {0, 1}, 4), "one run of bytes: 12000"));
    EXPECT_TRUE(has(explained({3, 5, 1000}, {1, 0, 2}, 4), "runs of 4000 bytes"));
    EXPECT_TRUE(has(explained({2001, 3000}, {1, 0}, 4), "matrices: strips"));
    EXPECT_TRUE(has(explained({100, 200}, {1, 0}, 4), "matrices: direct"));
    EXPECT_TRUE(has(explained({2000, 3000}, {1, 0}, 3), "matrices: tiles"));
    EXPECT_TRUE(has(explained({60, 70, 80, 90}, {3, 1, 2, 0}, 4), "transposed in vectors, by way of an image"));
    EXPECT_TRUE(has(explained({600'000, 3, 3}, {0, 2, 1}, 2), "matrices: tiles"));
    EXPECT_TRUE(has(explained({20, 3, 5, 7, 4}, {0, 3, 2, 1, 4}, 1), "tiles of 3 x 5 x 7 x 20 elements of 4 bytes"));
}

TEST(host_copy, permute_is_numpys) {
    std::vector<int> in(2 * 3 * 4 * 5), out(in.size());
    std::iota(in.begin(), in.end(), 0);
    permute(tensor_view{in, {2, 3, 4, 5}}, {2, 0, -1, 1}, tensor_view{out, {4, 2, 5, 3}});
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 3; ++b) {
            for (int c = 0; c < 4; ++c) {
                for (int d = 0; d < 5; ++d)
                    ASSERT_EQ(out[static_cast<std::size_t>(((c * 2 + a) * 5 + d) * 3 + b)],
                              in[static_cast<std::size_t>(((a * 3 + b) * 4 + c) * 5 + d)]);
            }
        }
    }
    // Any strides: every second column, backwards; a row again and again.
    std::vector<int> some(2 * 3);
    copy(tensor_view{in.data() + 4, {2, 3}, {5, -2}}, tensor_view{some, {2, 3}});
    EXPECT_EQ(some, (std::vector<int>{4, 2, 0, 9, 7, 5}));
    copy(tensor_view{in.data() + 1, {2, 3}, {0, 1}}, tensor_view{some, {2, 3}}, {.threads = 1});
    EXPECT_EQ(some, (std::vector<int>{1, 2, 3, 1, 2, 3}));
    int one = 7, other = 0;
    copy(tensor_view{&one, {}}, tensor_view{&other, {}});
    EXPECT_EQ(other, 7);
}

TEST(host_copy, c_functions) {
    std::vector<float> in(2 * 3 * 4), out(in.size());
    std::iota(in.begin(), in.end(), 0.0f);
    const std::int64_t extents[] = {2, 3, 4}, reversed[] = {-1, 5};
    const int axes[] = {2, 0, 1}, wrong[] = {2, 0, 0};
    ASSERT_EQ(cornerturn_permute(3, extents, in.data(), nullptr, axes, out.data(), nullptr, 4, 0), CORNERTURN_OK);
    EXPECT_EQ(out[3 * 6 + 1 * 3 + 2], in[1 * 12 + 2 * 4 + 3]);
    const std::int64_t strides[] = {12, 4, 1}, columns[] = {1, 2, 6};
    ASSERT_EQ(cornerturn_copy(3, extents, in.data(), strides, out.data(), columns, 4, 1), CORNERTURN_OK);
    EXPECT_EQ(out[1 + 2 * 2 + 3 * 6], in[12 + 8 + 3]);
    EXPECT_EQ(cornerturn_permute(3, extents, in.data(), nullptr, wrong, out.data(), nullptr, 4, 0),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_STREQ(cornerturn_last_error(), "axes[2] is 0: axes[1] is the same axis");
    EXPECT_EQ(cornerturn_copy(2, reversed, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(3, extents, in.data(), nullptr, out.data(), nullptr, 4, -1), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_STREQ(cornerturn_last_error(), "options.threads is -1: it must be 1 or more, or 0 for all cores");
    EXPECT_EQ(cornerturn_copy(33, extents, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(3, nullptr, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(0, nullptr, in.data() + 5, nullptr, out.data(), nullptr, 4, 0), CORNERTURN_OK);
    EXPECT_EQ(out[0], 5);
}

// It says what a copy would do, and does nothing.
TEST(host_copy, explained) {
    std::vector<float> in(300 * 200, 1.0f), out(in.size(), 0.0f);
    const tensor_view<const float> turned(in.data(), {200, 300}, {1, 200});
    const std::string text = explain_copy(turned, tensor_view{out.data(), {200, 300}});
    EXPECT_TRUE(text.starts_with("matrices: direct, ")) << text;
    EXPECT_EQ(out, std::vector<float>(in.size(), 0.0f));
    EXPECT_EQ(explain_copy(tensor_view{in.data(), {0, 3}}, tensor_view{out.data(), {0, 3}}),
              "nothing: there is nothing to move");
    EXPECT_EQ(explain_copy(tensor_view{in.data(), {7}}, tensor_view{in.data(), {7}}),
              "nothing: source and destination are the same");
    EXPECT_THROW(explain_copy(tensor_view{in.data(), {7}}, tensor_view{in.data() + 1, {7}}), invalid_argument);

    const std::int64_t extents[] = {200, 300}, strides[] = {1, 200};
    char whole[200] = "", cut[10] = "";
    const auto explain = [&](char* to, std::size_t size) {
        return cornerturn_explain_copy(2, extents, in.data(), strides, out.data(), nullptr, 4, to, size);
    };
    EXPECT_EQ(explain(whole, sizeof whole), CORNERTURN_OK);
    EXPECT_EQ(whole, text);
    EXPECT_EQ(explain(cut, sizeof cut), CORNERTURN_OK);
    EXPECT_EQ(cut, text.substr(0, 9));
    EXPECT_EQ(explain(nullptr, 10), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_STREQ(cornerturn_last_error(), "text is NULL, or text_size is 0");
}

// What cannot be done is refused before anything is written. tensors_test has the rules.
TEST(host_copy, mistakes) {
    std::vector<float> in(100), out(100);
    const auto refused = [&](auto call) -> std::string {
        try {
            call();
        } catch (const error& e) {
            return e.what();
        }
        return "(not refused)";
    };
    const tensor_view<const float> source{in.data(), {4, 5}};
    EXPECT_EQ(refused([&] {
                  copy(source, tensor_view{out.data(), {5, 4}});
              }),
              "destination.extent(0) is 5: the source's is 4 (extents (4, 5) and (5, 4))");
    EXPECT_EQ(refused([&] {
                  permute(source, {0, 1}, tensor_view{out.data(), {5, 4}});
              }),
              "destination.extent(0) is 5: the permuted source's is 4 (extents (4, 5) and (5, 4))");
    EXPECT_EQ(refused([&] { copy(source, tensor_view<float>{nullptr, {4, 5}}); }), "destination.data is null");
    EXPECT_EQ(refused([&] {
                  copy(source, tensor_view{out.data(), {4, 5}}, {.threads = -3});
              }),
              "options.threads is -3: it must be 1 or more, or 0 for all cores");
    EXPECT_NE(refused([&] { copy(source, tensor_view{in.data() + 1, {4, 5}}); }).find("overlaps"), std::string::npos);
    EXPECT_EQ(std::count(out.begin(), out.end(), 0.0f), 100) << "nothing was written";
    const std::vector<float> before = in;
    copy(tensor_view<const float>{in.data(), {4, 5}}, tensor_view{in.data(), {4, 5}});  // to itself
    EXPECT_EQ(in, before);
    copy(tensor_view<const float>{nullptr, {0, 5}}, tensor_view<float>{nullptr, {0, 5}});
}

TEST(host_copy, many_threads_at_once) {
    const std::uint64_t seed = new_seed();
    std::vector<std::string> faults(6);
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < faults.size(); ++t) {
            threads.emplace_back([&, t] {
                std::mt19937_64 random(seed + t);
                for (int i = 0; i < 40 && faults[t].empty(); ++i) {
                    const strided_problem p = tests::draw_strided(random, 1 << 20);
                    if (!is_taken(p)) continue;
                    faults[t] =
                        sides(p, seed).fault_of([&](const auto* from, auto* to) { copy_problem(p, from, to, i % 3); });
                }
            });
        }
    }
    for (const std::string& fault : faults) EXPECT_EQ(fault, "");
}

}  // namespace
