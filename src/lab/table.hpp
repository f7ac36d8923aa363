// Rows and columns of text, printed for people or for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cornerturn::lab {

enum class format { table, markdown, csv, json };

// Throws invalid_argument, which lists the formats.
format find_format(const std::string& name);

// The longest line of a table on a terminal, if the columns allow it.
inline constexpr std::size_t kTerminalColumns = 100;

struct table {
    struct column {
        std::string heading;
        bool right_aligned = false;
        // On a terminal: lines above the heading, and a shorter heading below them. Neighbouring columns with the same
        // lines share them. Both may be empty.
        std::string above = {}, narrow = {};
    };
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;
    // On a terminal: text below each row. Either no entries, or one for each row, which may be empty.
    std::vector<std::string> below = {};

    // Not for format::json. On a terminal, if lines would be too long and the last column is text, that column is
    // wrapped. If it has no room at all, its text goes below the rows.
    std::string print(format as) const;
};

// Breaks the text at spaces into lines of at most `width` columns. All lines but the first begin with `indent` spaces.
// A line without a space stays whole. The result ends with a newline only if the text does.
std::string wrapped(const std::string& text, std::size_t indent = 0, std::size_t width = kTerminalColumns);

// On one line, or indented. Bytes that are not UTF-8, which names of files may have, are replaced by U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cornerturn::lab
