// Which kernels do a copy between tensors. The transposes' kernels do it if it is a batch of matrices and they are
// faster. Otherwise the kernels of strided copies do it.
#pragma once

#include <optional>
#include <string>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::tensor_copies {

// Returns the copy as transposes of matrices whose elements are the copy's runs. Returns nothing if it is not a
// transpose, or if the transposes' kernels would be slower.
std::optional<matrix_work> matrices_for(const strided_copy& c, const gpu& on);

// Functions that launch the kernels of each.
using run_matrices = void (*)(const transposes::tuning&, const matrix_work&, const gpu&);
using run_plan = void (*)(const strided::plan&);

// Does all launches of the copy.
void run(const strided_copy& c, const gpu& on, run_matrices by_matrices, run_plan by_plan);

// One line: the kernels, how the copy is cut, and the predicted cost.
std::string explain(const strided_copy& c, const gpu& on);

}  // namespace cornerturn::tensor_copies
