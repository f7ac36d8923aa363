// Runs all rungs of an operation's ladder, in order.
#pragma once

#include <functional>
#include <vector>

#include "lab/run.hpp"

namespace cornerturn::lab {

std::vector<const kernel*> ladder_of(const operation& op);

// A kernel that does not take the dtype is skipped with that reason. Calls `before` before each kernel runs, for a
// progress bar.
std::vector<result> run_ladder(const std::vector<const kernel*>& rungs, runner& on, const run_request& request,
                               const std::function<void(const kernel&)>& before);

}  // namespace cornerturn::lab
