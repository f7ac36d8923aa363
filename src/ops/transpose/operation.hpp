// Transposition, as the lab knows it.
#pragma once

#include "device/registry.hpp"

namespace cornerturn {

struct matrix_work;

const operation& transpose_operation();

// Has the library's kernels transpose the work, as a step of another kernel's.
void transpose_step(backend on, const matrix_work& work);

}  // namespace cornerturn
