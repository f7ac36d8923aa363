// Choices that were measured. They are kept until the process ends, and can be written to a file and read again. Any
// thread may call these functions.
#pragma once

#include <optional>
#include <string>

#include "move/policy.hpp"

namespace cornerturn::moves {

// A way without its cost, as measured for copies like this one. Nothing if none was measured.
std::optional<candidate> measured_way(const strided_copy& c, const gpu& on);
void remember_measured(const strided_copy& c, const gpu& on, const candidate& way);

// Grows with every choice that is remembered. 0: none was measured.
unsigned measured_count();

// All choices, one a line.
std::string measured_text();
// Adds the choices of such a text and returns their number. Skips ways that this version does not have. Throws
// invalid_argument if it is no such text.
int read_measured(const std::string& text);

}  // namespace cornerturn::moves
