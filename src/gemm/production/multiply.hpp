// From a tuning to its kernels on the GPU, for host code that no kernel compiler reads.
#pragma once

#include "gemm/production/policy.hpp"

namespace cornerturn::production {

// Launches the product on device::current_stream() and returns at once; false where no kernel is tuned so. It has been
// chosen for this work, which is as as_computed() gives it and has the workspace of workspace_of(): nothing is checked.
// Throws cuda_error where CUDA refuses a launch.
bool multiply_on_gpu(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine);

}  // namespace cornerturn::production
