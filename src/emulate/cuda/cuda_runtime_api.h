// CUDA's runtime API. src/emulate/runtime/ implements it.
#pragma once

#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__  // programs test CUDA's include guards; here every program includes both headers

#define CUDART_VERSION 13000
#define CUDART_CB
#define __CUDART_API_VERSION CUDART_VERSION

#include <stddef.h>

#include "cornerturn_cuda/api_device.h"
#include "cornerturn_cuda/api_functions.h"
#include "cornerturn_cuda/api_graphs.h"
#include "cornerturn_cuda/api_memory.h"
#include "cornerturn_cuda/api_streams.h"
#include "driver_types.h"
#include "vector_types.h"
