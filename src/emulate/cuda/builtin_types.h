// CUDA's header with the types of the runtime API.
#pragma once

#include "driver_types.h"
#include "vector_types.h"
