// All rungs of a family, in order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/run.hpp"

namespace cornerturn::lab {

// The kernels of `ladder transpose`: its family's, and the copies that are its ceiling. Throws invalid_argument that
// names the families there are.
std::vector<const kernel*> ladder_of(const std::string& family);

// How the family's kernel that has several ways would do the work, on the host or else on a GPU of that compute
// capability, and why: "kernel: way: why". Throws invalid_argument where the family has none.
std::string explain(const std::string& family, backend on, const matrix_work& work, int compute_capability);
std::string explain(const gemm_work& work, int compute_capability, int multiprocessors);

// Runs them one after the other. A kernel that does not take the dtype is skipped with that reason. `before` is told
// of each before it runs, for a progress bar.
std::vector<result> run_ladder(const std::vector<const kernel*>& rungs, runner& on, const request& what,
                               const std::function<void(const kernel&)>& before);

}  // namespace cornerturn::lab
