// make_float4() and similar functions: all are in vector_functions.h.
#pragma once

#include "vector_functions.h"
