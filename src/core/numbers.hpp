// Numbers as users write them on a command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cornerturn {

// A whole number, 0 or more. Throws invalid_argument, whose message quotes `name` and `text`.
std::int64_t parse_size(const std::string& name, const std::string& text);

// A number of bytes: "65536", "500MB", "1 GiB". Throws like parse_size().
std::int64_t parse_bytes(const std::string& name, const std::string& text);

// Numbers with commas between them: "0.5", "-1,2e-3". Throws like parse_size().
std::vector<double> parse_numbers(const std::string& name, const std::string& text);

// "1.5 GB"
std::string bytes_text(double bytes);

}  // namespace cornerturn
