// How transposes and other copies in host memory are done, and by which of a few ways.
#pragma once

#include <string>

#include "core/strided.hpp"
#include "core/work.hpp"

namespace cornerturn::host {

// Work that has been checked, and is not empty; by at most so many threads, of those of the arena that the caller is
// in. A copy is not one to itself.
void run(const matrix_work& work, int threads);
void run(const strided_copy& copy, int threads);

// Which way it would take, and why: one line.
std::string explain(const matrix_work& work);
std::string explain(const strided_copy& copy);

}  // namespace cornerturn::host
