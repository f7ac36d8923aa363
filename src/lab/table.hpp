// Rows and columns of text, printed for people or for programs.
#pragma once

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

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace cornerturn::lab
