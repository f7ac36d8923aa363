// What the library's engine of strided copies makes of a kernel's work: in host code, which kernel files call.
#pragma once

#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "ops/copy/kernels/policy.hpp"
#include "ops/permute/work.hpp"

namespace cornerturn {

strided_copy canonical(const strided_work& work);

// Calls run(plan) for each launch that the engine would make.
void for_each_plan(const strided_work& work, const gpu& on, void (*run)(const strided::plan&));

// The engine's ways to do a copy, the one that it chooses first, each told as explain() tells it. Of those that differ
// in their predicted cost alone, the first. None where the engine would do the copy in several parts.
struct named_choice {
    strided::choice what;
    std::string text;
};
std::vector<named_choice> distinct_choices(const strided_copy& c, const gpu& on);

}  // namespace cornerturn
