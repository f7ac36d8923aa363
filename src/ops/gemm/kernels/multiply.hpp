// Runs a tuning's kernels on the GPU, for host code that no kernel compiler reads.
#pragma once

#include "ops/gemm/kernels/policy.hpp"

namespace cornerturn::production {

// Launches the product on device::current_stream() and returns at once. False if no kernel has this tuning. The plan
// must be for work that as_computed() returned. `workspace` has as many floats as the plan says. Nothing is checked.
// Throws cuda_error if CUDA refuses a launch.
bool multiply_on_gpu(const gemm_plan& plan, float* workspace, const gpu& on);

}  // namespace cornerturn::production
