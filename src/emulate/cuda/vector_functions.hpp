// make_float4() and its kin: all are in vector_functions.h.
#pragma once

#include "vector_functions.h"
