#include "host/targets.hpp"
#if HWY_TARGETS & HWY_SSE4
#undef HWY_TARGET
#define HWY_TARGET HWY_SSE4
#include "host/casts-inl.hpp"
#include "host/kernels-inl.hpp"
#endif
