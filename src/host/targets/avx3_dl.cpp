#include "host/targets.hpp"
#if HWY_TARGETS & HWY_AVX3_DL
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3_DL
#include "host/casts-inl.hpp"
#include "host/kernels-inl.hpp"
#endif
