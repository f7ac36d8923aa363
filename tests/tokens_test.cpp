// Tokens of preprocessed C++, and the rewriter on random text.
#include "emulate/tokens.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "cornerturn/error.hpp"
#include "emulate/rewrite.hpp"
#include "seed.hpp"

using namespace cornerturn;
using namespace cornerturn::emulate;

namespace {

class random_text {
public:
    std::string bytes(std::size_t most) {
        std::string all(below(most), ' ');
        for (char& c : all) c = static_cast<char>(below(256));
        return all;
    }
    // Pieces of CUDA C++ in random order.
    std::string pieces(std::size_t most) {
        static const std::vector<std::string> all{"__global__",
                                                  "__device__",
                                                  "__shared__",
                                                  "__constant__",
                                                  "__managed__",
                                                  "__launch_bounds__",
                                                  "__align__",
                                                  "__forceinline__",
                                                  "__noinline__",
                                                  "__attribute__",
                                                  "alignas",
                                                  "asm",
                                                  "extern",
                                                  "static",
                                                  "template",
                                                  "operator",
                                                  "decltype",
                                                  "namespace",
                                                  "if",
                                                  "return",
                                                  "auto",
                                                  "int",
                                                  "x",
                                                  "k",
                                                  "::",
                                                  ".",
                                                  "->",
                                                  "<",
                                                  ">",
                                                  "<<",
                                                  ">>",
                                                  "<<<",
                                                  ">>>",
                                                  "<<<1, 1>>>",
                                                  "<<<1, 1>>>(x)",
                                                  ">=",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "[[",
                                                  "]]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ";",
                                                  ":",
                                                  "*",
                                                  "=",
                                                  "#",
                                                  "'",
                                                  "\"",
                                                  "\\",
                                                  "\"<<<\"",
                                                  "'\"'",
                                                  "R\"(\")\"",
                                                  "R\"",
                                                  "u8",
                                                  "1'000",
                                                  "0x1p-3",
                                                  ".5",
                                                  " ",
                                                  "\n",
                                                  "\n# 7 \"a.cu\" 3\n",
                                                  "\n#pragma x\n",
                                                  "\n# 99999999999999999999 \"b.cu\"\n",
                                                  "\"mov.u32 %0, %laneid;\"",
                                                  ":\"=r\"(x)"};
        std::string text;
        for (std::size_t n = below(most); n > 0; --n) text += all[below(all.size())] + (below(2) == 0 ? " " : "");
        return text;
    }

private:
    std::size_t below(std::size_t most) { return draw_() % most; }
    std::mt19937 draw_{tests::seed(20250101)};
};

void expect_round_trip(const std::string& text) {
    token_list all(text);
    ASSERT_EQ(all.text(), text);
    for (std::size_t at = 0; at < all.size(); ++at) {
        ASSERT_FALSE(all[at].text.empty()) << text;
        if (!all.is(at, "(") && !all.is(at, "[") && !all.is(at, "{")) continue;
        const std::size_t close = all.closing_bracket(at);
        if (close < all.size()) {
            ASSERT_EQ(all.opening_bracket(close), at) << text;
        }
    }
    const auto lines = std::count(text.begin(), text.end(), '\n');
    all.blank(0, all.size());
    const std::string left = all.text();
    ASSERT_EQ(std::count(left.begin(), left.end(), '\n'), lines) << text;
}

TEST(tokens, joined_are_the_text) {
    random_text draw;
    for (int i = 0; i < 3000; ++i) expect_round_trip(draw.bytes(200));
    for (int i = 0; i < 3000; ++i) expect_round_trip(draw.pieces(60));
}

TEST(tokens, know_their_file_and_line) {
    const token_list all("a\n  b R\"(\n)\" c\n# 10 \"x.cu\" 3 4\nd\n\n# 4 \"y.cu\"\ne");
    const auto of = [&](std::string_view name) {
        for (std::size_t at = 0; at < all.size(); ++at)
            if (all.is(at, name)) return all[at];
        return token{};
    };
    EXPECT_EQ(of("b").line, 2);
    EXPECT_EQ(of("c").line, 3);
    EXPECT_EQ(of("d").line, 10);
    EXPECT_EQ(*of("d").file, "x.cu");
    EXPECT_TRUE(of("d").in_system_header);
    EXPECT_EQ(of("e").line, 4);
    EXPECT_EQ(*of("e").file, "y.cu");
    EXPECT_FALSE(of("e").in_system_header);
}

// The rewriter throws error for invalid text, or leaves it to g++. It keeps all lines.
TEST(rewriter, accepts_or_refuses_any_text) {
    random_text draw;
    int taken = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string text = draw.pieces(40);
        SCOPED_TRACE(text);
        for (const pass which : {pass::host, pass::device}) {
            try {
                const std::string all = rewrite(text, which).text;
                ASSERT_EQ(std::count(all.begin(), all.end(), '\n'), std::count(text.begin(), text.end(), '\n')) << all;
                ++taken;
            } catch (const error&) {
            }
        }
    }
    EXPECT_GT(taken, 10000);
}

}  // namespace
