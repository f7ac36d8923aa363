// From a tuning to its kernels on the GPU, for host code that no kernel compiler reads.
#pragma once

#include "ops/gemm/kernels/policy.hpp"

namespace cornerturn::production {

// Launches the product on device::current_stream() and returns at once; false where no kernel is tuned so. The plan has
// been made for this work, which is as as_computed() gives it and has the plan's workspace: nothing is checked. Throws
// cuda_error where CUDA refuses a launch.
bool multiply_on_gpu(const gemm_plan& plan, float* workspace, const gpu& on);

}  // namespace cornerturn::production
