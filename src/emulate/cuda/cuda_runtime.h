// What nvcc includes before every file: CUDA's types, words and runtime. See docs/emulate.md for what is exact,
// approximate and refused.
#pragma once

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "vector_functions.h"
#include "cornerturn_cuda/words.h"
#include "cornerturn_cuda/integer.h"
#include "cornerturn_cuda/math.h"
