// All ways in which the engine of strided copies could do a copy: for the bench's regret and for explain.
#pragma once

#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "device/operation.hpp"
#include "ops/copy/kernels/policy.hpp"

namespace cornerturn {

// The engine's choice comes first. Texts are those of strided::explain(). Of ways that differ only in their predicted
// cost, the first one is kept. Empty if the copy takes several launches.
struct named_choice {
    strided::choice what;
    std::string text;
};
std::vector<named_choice> distinct_choices(const strided_copy& c, const gpu& on);

// The same ways; run(plan) runs one.
std::vector<problem::candidate> strided_candidates(const strided_copy& c, const gpu& on,
                                                   void (*run)(const strided::plan&));

}  // namespace cornerturn
