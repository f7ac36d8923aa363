// Runs a tuning's kernels on the GPU, for host code that no kernel compiler reads.
#pragma once

#include "ops/gemm/kernels/policy.hpp"

namespace cornerturn::products {

// Launches the product on device::current_stream() and returns at once. Returns false if no kernel has this tuning. The
// product must be prepared from work that as_computed() returned. `workspace` has `prepared.space.floats` floats.
// Nothing is checked. Throws cuda_error if CUDA refuses a launch.
bool multiply_on_gpu(const prepared_product& prepared, float* workspace, const gpu& on);

}  // namespace cornerturn::products
