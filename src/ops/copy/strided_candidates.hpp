// The ways in which the engine of strided copies does a copy, for the bench's regret and for explain.
#pragma once

#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "device/operation.hpp"
#include "ops/copy/kernels/policy.hpp"

namespace cornerturn {

// The one that the engine chooses first, each told as strided::explain() tells it. Of those that differ in their
// predicted cost alone, the first. None where the copy takes several launches.
struct named_choice {
    strided::choice what;
    std::string text;
};
std::vector<named_choice> distinct_choices(const strided_copy& c, const gpu& on);

// The same, to be run by run(plan).
std::vector<problem::candidate> strided_candidates(const strided_copy& c, const gpu& on,
                                                   void (*run)(const strided::plan&));

}  // namespace cornerturn
