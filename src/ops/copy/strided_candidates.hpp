// The ways in which the engine of strided copies does a copy, for the bench's regret.
#pragma once

#include <vector>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "device/operation.hpp"

namespace cornerturn {
namespace strided {
struct plan;
}

// All choices that differ, the one of the lowest predicted cost first, run by run(plan). None where the copy takes
// several launches.
std::vector<problem::candidate> strided_candidates(const strided_copy& c, const gpu& on,
                                                   void (*run)(const strided::plan&));

}  // namespace cornerturn
