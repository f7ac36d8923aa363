// CUDA's integer intrinsics, and its arithmetic with a rounding mode.
#pragma once

#include "../device_functions.h"
