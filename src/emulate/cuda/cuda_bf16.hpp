// The functions of bfloat16: all are in cuda_bf16.h.
#pragma once

#include "cuda_bf16.h"
