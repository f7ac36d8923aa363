// What the library's engine of strided copies makes of a kernel's work: in host code, which kernel files call.
#pragma once

#include "core/gpu.hpp"
#include "ops/copy/kernels/policy.hpp"
#include "ops/permute/work.hpp"

namespace cornerturn {

strided_copy canonical(const strided_work& work);

// Calls run(plan) for each launch that the engine would make.
void for_each_plan(const strided_work& work, const gpu& on, void (*run)(const strided::plan&));

}  // namespace cornerturn
