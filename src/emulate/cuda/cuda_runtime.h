// What nvcc includes before every file: CUDA's types, words and runtime. See docs/emulator.md for what is exact,
// approximate and refused.
#pragma once

// Programs ask by these whether CUDA's headers are there.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_API_H__

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "cornerturn_cuda/integer.h"
#include "cornerturn_cuda/math.h"
#include "cornerturn_cuda/words.h"
#include "cuda_runtime_api.h"
#include "vector_functions.h"
