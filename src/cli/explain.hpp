// The explain command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/table.hpp"

namespace cornerturn::cli {

// As words, with what is taken where nobody says.
struct explain_options {
    std::string family, compute_capability = "90", count = "1";
    std::optional<std::string> on;  // cuda; of one kernel emulator
    // Of a transpose.
    std::optional<std::string> rows, cols, dtype, element_size, source_ld, destination_ld;
    std::optional<std::string> source_offset, destination_offset;
    bool in_place = false;
    // Of a product.
    std::optional<std::string> m, n, k, lda, ldb, ldc, offset, multiprocessors;
    bool a_transposed = false, b_transposed = false;
    // Of a kernel.
    std::optional<std::string> svg, output;
    std::string seed = "1";
};

// Throws invalid_argument that names the option at fault.
std::string explain(const explain_options& o, lab::format as);

// Of the kernel that o.family names, by its id: what it is for, what each line of it does, and what one warp does to
// sectors and banks; as a drawing too, in the file that o.svg names.
std::string explain_kernel(const explain_options& o, lab::format as);

}  // namespace cornerturn::cli
