// The commands that run kernels of the registry: profile, ladder and diff.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/table.hpp"

namespace cornerturn::cli {

// As words, with what is taken where nobody says.
struct run_options {
    std::string seed = "1", dtype = "f32";
    std::optional<std::string> rows, cols, m, n, k, on, rungs, metrics, ncu, placement;
    std::string id, other, family;
    bool full = false, lines = false, warm = false, untimed = false, counters = false, compare = false;
    std::vector<std::string> arguments;  // of the whole command, to be run once more under ncu
};

// Each throws invalid_argument that names the option at fault, and error where a kernel was not verified, which is told
// after the table was written.
void profile(const run_options& o, lab::format as, const std::optional<std::string>& output);
void ladder(const run_options& o, lab::format as, const std::optional<std::string>& output);
void diff(const run_options& o, lab::format as, const std::optional<std::string>& output);

}  // namespace cornerturn::cli
