// From a tuning to its kernel on the GPU, for host code that no kernel compiler reads.
#pragma once

#include "core/work.hpp"
#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::production {

// Launches the kernel on device::current_stream() and returns at once; false where no kernel is tuned so. The caller
// has chosen it for this work: nothing is checked. Throws cuda_error where CUDA refuses the launch.
bool run_on_gpu(const tuning& tuned, const matrix_work& work);

}  // namespace cornerturn::production
