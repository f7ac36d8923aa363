// The header that nvcc includes before every file: CUDA's types, built-ins and runtime. docs/emulator.md says what is
// exact, approximate or refused.
#pragma once

// Programs test these macros to find whether CUDA's headers are included.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_API_H__

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "cornerturn_cuda/builtins.h"
#include "cornerturn_cuda/integer.h"
#include "cornerturn_cuda/math.h"
#include "cuda_runtime_api.h"
#include "vector_functions.h"
