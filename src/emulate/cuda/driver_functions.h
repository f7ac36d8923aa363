// make_cudaPitchedPtr, make_cudaExtent and make_cudaPos.
#pragma once

#include "cuda_runtime_api.h"
