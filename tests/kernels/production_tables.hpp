// The library's kernels as they are tuned, for the emulator.
#pragma once

#include <vector>

#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::tests {

struct tuned_kernel {
    production::tuning tuned;
    void (*run)(const matrix_work& work);
};
std::vector<tuned_kernel> tuned_kernels();

}  // namespace cornerturn::tests
