// cornerturn::copy and permute in host memory move every element, with any extents and strides, and change nothing
// else.
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
#include "host/choice.hpp"
#include "host/methods.hpp"
#include "host/tiling.hpp"
#include "host_transposes.hpp"
#include "message.hpp"
#include "ops/copy/strided_shape.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;
using detail::any_tensor;
using detail::axis_list;
using tests::kMiB;
using tests::strided_problem;

namespace {

const host::team one_thread({.threads = 1});

// Both sides of a problem, and the expected destination.
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

    // The first fault of the copy, or nothing. copy(source, destination) moves from buffer to buffer.
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

// Whether the library takes the problem. It refuses destinations whose elements overlap or may overlap.
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

// Reversed bytes are moved in groups. The last tile may have any number of bytes.
TEST(host_copy, reversed_bytes_with_every_length_of_the_last_tile) {
    for (std::int64_t bytes = 42'490; bytes < 42'630; ++bytes) {
        strided_problem p{{bytes}, {-1}, {1}, 1};
        p.lay_out(64, 3, 5);
        ASSERT_EQ(sides(p, 1).fault_of([&](const auto* from, auto* to) { copy_problem(p, from, to, 1); }), "");
    }
}

// Few rows, and two axes of columns. Random draws hardly ever have this.
strided_problem few_rows() {
    strided_problem p;
    p.extents = {2, 300, 4};
    p.source_strides = {1, 2, 601};
    p.destination_strides = {1200, 4, 1};
    p.lay_out(64, 3, 5);
    return p;
}

// Six columns of each dozen. The six others are moved with them.
strided_problem few_columns() {
    strided_problem p;
    p.extents = {22, 6, 378};
    p.source_strides = {12, 1, 301};
    p.destination_strides = {6 * 378, 378, 1};
    p.lay_out(64, 3, 5);
    return p;
}

// Axes in any order on both sides. Rows and columns are whole lines of the destination, which is aligned.
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

// Small copies, half of them moved as if they were larger than the caches. They use every method for a tile.
TEST(host_copy, tiles_with_every_instruction_set) {
    const std::uint64_t seed = new_seed();
    tests::for_each_set_of_instructions([&] {
        std::mt19937_64 random(seed);
        std::map<std::pair<int, bool>, int> taken;  // by method, and whether through an image
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
                with_gaps += t.how == host::tiling::transfer::in_vectors && std::ssize(t.cols_at) > columns;
                host::run_tiles(c, large, host::team({.threads = threads}));
            };
            ASSERT_EQ(sides(p, seed).fault_of(run), "") << "seed " << seed << ", round " << round;
        }
        using transfer = host::tiling::transfer;
        const bool vectors = host::kernels_for(1).transpose_listed != nullptr;
        for (const transfer how :
             {transfer::gathered, transfer::in_vectors, transfer::packed, transfer::joined, transfer::shuffled}) {
            for (const bool image : {false, true}) {
                if (!vectors && how != transfer::gathered) continue;
                if (how == transfer::joined && !image) continue;  // joined rows with gaps fill no line: always an image
                EXPECT_GT((taken[{static_cast<int>(how), image}]), 0) << static_cast<int>(how) << " " << image;
            }
        }
        if (!vectors) return;
        EXPECT_GT((taken[{static_cast<int>(transfer::streamed), false}]), 40);
        EXPECT_GT(with_gaps, 0);
    });
}

// Overlapping windows. If they step by the length of a tile, a partial tile and the whole tile after it begin at the
// same element.
TEST(host_copy, overlapping_windows) {
    for (std::int64_t step = 1; step <= 128; ++step) {
        strided_problem p{{8, 127, 33}, {step, 1, 5}, {127 * 33, 33, 1}, 8};
        p.lay_out(64, 0, 0);
        const auto run = [&](const auto* from, auto* to) { host::run_tiles(p.canonical(from, to), true, one_thread); };
        ASSERT_EQ(sides(p, 1).fault_of(run), "");
    }
}

// With the default instruction set, drawn as the benches draw.
TEST(host_copy, larger_than_the_caches) {
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

// The library does not touch pages that hold no element, neither beside a tensor nor between its elements.
TEST(host_copy, touches_no_page_beside_the_tensor) {
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
            // Rows end at the end of a page, and the next page cannot be accessed.
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

// The method for each shape.
TEST(host_copy, choice) {
    const auto permuted = [](const std::vector<std::int64_t>& extents, const std::vector<int>& axes,
                             std::int64_t size) {
        return permuted_shape(extents, axes, size)
            .copy(reinterpret_cast<void*>(std::uintptr_t{1} << 40), reinterpret_cast<void*>(std::uintptr_t{1} << 42));
    };
    EXPECT_NAMES(host::explain(permuted({3, 1000}, {0, 1}, 4)), "copy", 12000);
    EXPECT_NAMES(host::explain(permuted({3, 5, 1000}, {1, 0, 2}, 4)), "copy", 4000);
    for (const char* way : {"strips", "tiles", "direct"})
        EXPECT_NAMES(host::explain(permuted({2001, 3000}, {1, 0}, 4)), "matrices", way);
    EXPECT_NAMES(host::explain(permuted({100, 200}, {1, 0}, 4)), "matrices", "direct");
    EXPECT_NAMES(host::explain(permuted({2000, 3000}, {1, 0}, 3)), "matrices", "tiles");
    for (const char* way : {"image", "tiles", "direct"})
        EXPECT_NAMES(host::explain(permuted({600'000, 3, 3}, {0, 2, 1}, 2)), "matrices", way);
    EXPECT_NAMES(host::explain(permuted({20, 3, 5, 7, 4}, {0, 3, 2, 1, 4}, 1)), "copy", "tiles", "3 x 5 x 7 x 20", 4);
    const strided_copy large = permuted({60, 70, 80, 90}, {3, 1, 2, 0}, 4);
    const host::tiling tiles = host::tile(large, true, host::kernels_for(large.run));
    EXPECT_EQ(tiles.how, host::tiling::transfer::in_vectors);
    EXPECT_GT(tiles.image_bytes, 0);
    EXPECT_NAMES(host::explain(large), "copy", "tiles", 4);
}

TEST(host_copy, permute_equals_numpy) {
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
    // Any strides: every second column, in reverse; one row twice.
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
    EXPECT_NAMES(cornerturn_last_error(), "axes[2]", 0, "axes[1]");
    EXPECT_EQ(cornerturn_copy(2, reversed, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(3, extents, in.data(), nullptr, out.data(), nullptr, 4, -1), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "options.threads", -1);
    EXPECT_EQ(cornerturn_copy(33, extents, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(3, nullptr, in.data(), nullptr, out.data(), nullptr, 4, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_copy(0, nullptr, in.data() + 5, nullptr, out.data(), nullptr, 4, 0), CORNERTURN_OK);
    EXPECT_EQ(out[0], 5);
}

// explain_copy() describes the copy and moves nothing.
TEST(host_copy, explained) {
    std::vector<float> in(300 * 200, 1.0f), out(in.size(), 0.0f);
    const tensor_view<const float> column_major(in.data(), {200, 300}, {1, 200});
    const std::string text = explain_copy(column_major, tensor_view{out.data(), {200, 300}});
    EXPECT_NAMES(text, "matrices", "direct");
    EXPECT_EQ(out, std::vector<float>(in.size(), 0.0f));
    const std::string of_empty = explain_copy(tensor_view{in.data(), {0, 3}}, tensor_view{out.data(), {0, 3}});
    const std::string of_same = explain_copy(tensor_view{in.data(), {7}}, tensor_view{in.data(), {7}});
    EXPECT_NAMES(of_empty, "nothing");
    EXPECT_NAMES(of_same, "nothing");
    EXPECT_NE(of_empty, of_same);
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
    EXPECT_NAMES(cornerturn_last_error(), "text", "NULL", "text_size");
    EXPECT_EQ(explain(cut, 0), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "text_size", 0, 1);
}

// Refused calls write nothing. tensors_test has all the rules.
TEST(host_copy, refuses_wrong_arguments) {
    std::vector<float> in(100), out(100);
    const auto refused = [&](auto call) -> std::string {
        try {
            call();
        } catch (const invalid_argument& e) {
            return e.what();
        }
        return "not refused";
    };
    const tensor_view<const float> source{in.data(), {4, 5}};
    const tensor_view<float> wrong{out.data(), {5, 4}};
    EXPECT_NAMES(refused([&] { copy(source, wrong); }), "destination.extent(0)", 5, 4, "source", "(4, 5)", "(5, 4)");
    const auto permute_to_wrong = [&] { permute(source, {0, 1}, wrong); };
    EXPECT_NAMES(refused(permute_to_wrong), "destination.extent(0)", 5, 4, "permuted source", "(4, 5)", "(5, 4)");
    EXPECT_NAMES(refused([&] { copy(source, tensor_view<float>{nullptr, {4, 5}}); }), "destination.data", "null");
    const auto copy_by_no_threads = [&] { copy(source, tensor_view{out.data(), {4, 5}}, {.threads = -3}); };
    EXPECT_NAMES(refused(copy_by_no_threads), "options.threads", -3);
    EXPECT_NAMES(refused([&] {
                     copy(source, tensor_view{in.data() + 1, {4, 5}});
                 }),
                 "destination", in.data() + 1, "source", in.data());
    EXPECT_EQ(std::count(out.begin(), out.end(), 0.0f), 100) << "refused calls must not write";
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
