// A small random matrix and its transpose, for people to look at.
#pragma once

#include <cstdint>
#include <string>

#include "core/dtype.hpp"
#include "lab/table.hpp"

namespace cornerturn::cli {

// Both matrices as text: digits 0 to 9, two an element for complex types, moved by the host's reference transpose.
// Throws invalid_argument where there are too many elements to print.
std::string show(std::int64_t rows, std::int64_t cols, const dtype& type, std::uint64_t seed, lab::format as);

}  // namespace cornerturn::cli
