// Runs a tuning's kernel, for host code that nvcc does not compile, and for other operations.
#pragma once

#include "core/matrix_work.hpp"
#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::transposes {

// Launches the kernel on device::current_stream() and returns at once. The caller has chosen it for this work and this
// GPU, so nothing is checked. Throws cuda_error if CUDA refuses the launch.
void run_on_gpu(const tuning& tuned, const matrix_work& work, const gpu& on);
// The same in the emulator.
void run_emulated(const tuning& tuned, const matrix_work& work, const gpu& on);

}  // namespace cornerturn::transposes
