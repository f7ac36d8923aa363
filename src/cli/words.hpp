// Numbers as people write them on a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cornerturn::cli {

// A whole number, 0 or more. Throws invalid_argument that names what was given.
std::int64_t parse_size(const std::string& name, const std::string& text);

// Bytes: "65536", "500MB", "1 GiB". Throws as parse_size() does.
std::int64_t parse_bytes(const std::string& name, const std::string& text);

// --placement: 0 to 64, and 0 where it is not given. Throws as parse_size() does, and where a GPU moves no matrices.
int parse_placement(const std::optional<std::string>& text, bool gpu_moves_matrices);

// "1.5 GB"
std::string bytes_text(double bytes);

}  // namespace cornerturn::cli
