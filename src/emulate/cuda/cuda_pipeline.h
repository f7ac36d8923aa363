// The older header of asynchronous copies: the primitives.
#pragma once

#include "cuda_pipeline_primitives.h"
