// Rows and columns of text, printed for people or for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cornerturn::lab {

enum class format { table, markdown, csv, json };

// Throws invalid_argument that names the formats.
format find_format(const std::string& name);

// No line of a table on a terminal is longer, where its columns allow it.
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
    // On a terminal: text below each row. Empty, or one text a row, which may be empty.
    std::vector<std::string> below = {};

    // Not for format::json: what a table shows is a part of a larger object there. On a terminal, where the
    // lines would be too long, the last column is wrapped if it is text, or stands below the rows if there is no room.
    std::string print(format as) const;
};

// The text in lines of at most `width` columns, broken at spaces; all but the first begin with `indent` spaces. A line
// that has no space stays whole. Without a newline at the end, unless the text has one.
std::string wrapped(const std::string& text, std::size_t indent = 0, std::size_t width = kTerminalColumns);

// On one line, or indented. Bytes that are not UTF-8, as names of files may have them, are replaced by U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cornerturn::lab
