#include "host/targets.hpp"
#if HWY_TARGETS & HWY_AVX3
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include "host/casts-inl.hpp"
#include "host/kernels-inl.hpp"
#endif
