// Which kernels move a copy between tensors: the transposes', where it is a batch of matrices that they move faster, or
// those of strided copies.
#pragma once

#include <optional>
#include <string>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::routing {

// The copy as transposes of matrices whose elements are its runs, if it can be told so, and if the transposes' own
// kernels are the faster ones.
std::optional<matrix_work> matrices_for(const strided_copy& c, const gpu& on);

// How the kernels of each are launched.
using run_matrices = void (*)(const production::tuning&, const matrix_work&, const gpu&);
using run_plan = void (*)(const strided::plan&);

// Launches whatever the copy takes.
void run(const strided_copy& c, const gpu& on, run_matrices by_matrices, run_plan by_plan);

// In a line: which kernels, how the copy is cut, and what that is predicted to cost.
std::string explain(const strided_copy& c, const gpu& on);

}  // namespace cornerturn::routing
