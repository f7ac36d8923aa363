// The bench command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/table.hpp"

namespace cornerturn::cli {

// As words, with what is taken where nobody says.
struct bench_options {
    std::string family, on = "cuda";
    std::optional<std::string> sizes, shapes;   // all
    std::optional<std::string> subject, peers;  // those of the place where it runs
    std::string seconds = "0.5";
    bool warm = false;
    std::optional<std::string> placement;
    std::optional<std::string> commit;  // stored as provenance
};

// Measures, prints and stores. Throws error where a kernel's result was wrong, once all is printed.
void bench(const bench_options& o, std::uint64_t seed, lab::format as, const std::optional<std::string>& output,
           const std::string& command_line);

}  // namespace cornerturn::cli
