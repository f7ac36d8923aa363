// How a transpose in host memory is done, and by which of a few ways.
#pragma once

#include <string>

#include "core/work.hpp"

namespace cornerturn::host {

// Work that has been checked, and is not empty; by at most so many threads, of those of the arena that the caller is
// in.
void run(const matrix_work& work, int threads);

// Which way it would take, and why: one line.
std::string explain(const matrix_work& work);

}  // namespace cornerturn::host
