// The task of the kernels of permutations, and their operation.
#pragma once

#include "ops/copy/strided_work.hpp"

namespace cornerturn {

const operation& permute_operation();

}  // namespace cornerturn
