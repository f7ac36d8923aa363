// Rows and columns of text, printed for people or for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace cornerturn::lab {

enum class format { table, markdown, csv, json };

// Throws invalid_argument that names the formats.
format find_format(const std::string& name);

struct table {
    struct column {
        std::string heading;
        bool right_aligned = false;
    };
    std::vector<column> columns;
    std::vector<std::vector<std::string>> rows;

    // Not for format::json: what a table shows is a part of a larger object there.
    std::string print(format as) const;
};

// On one line, or indented. Bytes that are not UTF-8, as names of files may have them, are replaced by U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cornerturn::lab
