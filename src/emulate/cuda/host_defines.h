// Macros that mark functions of CUDA's interface.
#pragma once

#include "crt/host_defines.h"
