// CUDA's integer intrinsics, and its arithmetic with a rounding mode.
#pragma once

#include "cornerturn_cuda/integer.h"
#include "cornerturn_cuda/rounding.h"
