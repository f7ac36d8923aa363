// The transpose command: files.
#pragma once

#include <optional>
#include <string>

#include "lab/table.hpp"

namespace cornerturn::cli {

// As words, with what is taken where nobody says.
struct transpose_options {
    std::string source, destination, memory = "1GiB", layout = "c", on = "host";
    std::optional<std::string> rows, cols, dtype, element_size;  // of a file without a header
    std::optional<std::string> threads;
};

// Throws error where a file cannot be read or written; unsupported where there is no GPU to run on, but should be.
void transpose(const transpose_options& o, lab::format as, const std::optional<std::string>& output);

}  // namespace cornerturn::cli
