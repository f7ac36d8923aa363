// How the library runs a kernel's work: host code that kernel files call.
#pragma once

#include "core/gpu.hpp"
#include "ops/permute/kernels/policy.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn {

strided_copy canonical(const strided_work& work);

// Does what the library would do.
void run_library(const strided_work& work, const gpu& on, tensor_copies::run_matrices by_matrices,
                 tensor_copies::run_plan by_plan);

}  // namespace cornerturn
