// Transposes and other copies in host memory, and the choice among the methods.
#pragma once

#include <string>

#include "core/matrix_work.hpp"
#include "core/strided.hpp"

namespace cornerturn::host {

class team;

// Do work that was checked and is not empty. A copy must not be one to itself.
void run(const matrix_work& work, const team& threads);
void run(const strided_copy& copy, const team& threads);

// One line: which method it would take, and why.
std::string explain(const matrix_work& work);
std::string explain(const strided_copy& copy);

}  // namespace cornerturn::host
