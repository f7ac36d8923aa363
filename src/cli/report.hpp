// The report command.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cornerturn::cli {

struct report_options {
    std::vector<std::string> results;  // files
    std::string format = "html";
    std::optional<std::string> plots;  // a folder
};

// Reads and draws everything before it writes anything. Throws invalid_argument where the options are at fault, error
// that names the file where a result is.
void report(const report_options& o, const std::optional<std::string>& output);

}  // namespace cornerturn::cli
