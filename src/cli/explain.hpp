// The explain command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/table.hpp"

namespace cornerturn::cli {

// As words, with what is taken where nobody says.
struct explain_options {
    std::string family, on = "cuda";
    std::string rows = "4096", cols = "4096", dtype = "f32", compute_capability = "90", count = "1";
    std::string source_offset = "0", destination_offset = "0";
    std::optional<std::string> element_size, source_ld, destination_ld;
    bool in_place = false;
};

// Throws invalid_argument that names the option at fault.
std::string explain(const explain_options& o, lab::format as);

}  // namespace cornerturn::cli
