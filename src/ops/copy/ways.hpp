// All ways in which the library could do a copy: for a bench's regret.
#pragma once

#include <vector>

#include "device/operation.hpp"
#include "move/policy.hpp"

namespace cornerturn {

// The library's choice comes first. run(plan) runs one. Empty if the copy takes several launches, or has no work.
std::vector<problem::candidate> ways_of(const strided_copy& c, const gpu& on, void (*run)(const moves::plan&));

}  // namespace cornerturn
