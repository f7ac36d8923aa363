// The instruction sets that have no file here. Highway includes this one again for each of them.
#define CORNERTURN_THE_REST
#include "host/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/targets/rest.cpp"
#include <hwy/foreach_target.h>  // before highway.h

#include "host/casts-inl.hpp"
#include "host/kernels-inl.hpp"
