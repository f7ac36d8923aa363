// The functions of the 8-bit floats: all are in cuda_fp8.h.
#pragma once

#include "cuda_fp8.h"
