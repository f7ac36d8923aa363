// The transpose, as the lab knows it.
#pragma once

#include "device/registry.hpp"

namespace cornerturn {

struct matrix_work;

const operation& transpose_operation();

// Runs the library's transpose of the work, as a step of another kernel.
void transpose_step(backend on, const matrix_work& work);

}  // namespace cornerturn
