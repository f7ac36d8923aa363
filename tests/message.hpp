// Checks of messages by the values that they carry. No test checks the wording of a message: the examples in the
// documents do (docs_test, emulate_docs_test).
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace cornerturn::tests {

// The position behind `value` in `text`, from `from` on, where no letter, digit or underscore adjoins a letter, digit
// or underscore of the value. npos if there is none.
inline std::size_t find_value(const std::string& text, const std::string& value, std::size_t from) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(value, from); at != text.npos; at = text.find(value, at + 1)) {
        const std::size_t end = at + value.size();
        const bool begins = at == 0 || !in_word(text[at - 1]) || !in_word(value.front());
        const bool ends = end == text.size() || !in_word(text[end]) || !in_word(value.back());
        if (begins && ends) return end;
    }
    return text.npos;
}

// Whether each value is in `text` as a whole word or number, in this order.
inline testing::AssertionResult names(const std::string& text, const std::vector<std::string>& values) {
    std::size_t from = 0;
    for (const std::string& value : values) {
        from = value.empty() ? text.npos : find_value(text, value, from);
        if (from == text.npos) return testing::AssertionFailure() << "'" << value << "' is missing in: " << text;
    }
    return testing::AssertionSuccess();
}

// The same for values of any types, as a stream would write them.
template <class... Values>
testing::AssertionResult names(const std::string& text, const Values&... values) {
    const auto written = [](const auto& value) {
        std::ostringstream all;
        all << value;
        return all.str();
    };
    return names(text, std::vector<std::string>{written(values)...});
}

// Whether one line of `text` has them all, in this order.
template <class... Values>
testing::AssertionResult line_names(const std::string& text, const Values&... values) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (names(line, values...)) return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "no line has all of " << testing::PrintToString(std::tuple(values...))
                                       << ", in this order: " << text;
}

// The numbers in `text` that are written as "0x1f", in order. Each has at most 64 bits.
inline std::vector<std::uint64_t> hex_numbers(const std::string& text) {
    std::vector<std::uint64_t> all;
    for (std::size_t at = text.find("0x"); at != text.npos; at = text.find("0x", at + 2))
        all.push_back(std::stoull(text.substr(at), nullptr, 16));
    return all;
}

}  // namespace cornerturn::tests

#define EXPECT_NAMES(...) EXPECT_TRUE(::cornerturn::tests::names(__VA_ARGS__))
#define EXPECT_LINE_NAMES(...) EXPECT_TRUE(::cornerturn::tests::line_names(__VA_ARGS__))
