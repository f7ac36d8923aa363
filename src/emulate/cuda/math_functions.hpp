// CUDA's mathematical functions.
#pragma once

#include "cornerturn_cuda/math.h"
