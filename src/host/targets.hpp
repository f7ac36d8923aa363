// For which instruction sets Highway compiles the kernels. Included before any header of Highway's.
#pragma once

// Each of these takes ten seconds to compile, and has a file of its own in targets/.
#define CORNERTURN_TARGETS_WITH_FILES (HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)

// Left out are: sets that have vectors of a length that the compiler does not know, which cannot be in arrays; SSSE3,
// whose processors take what all have; and those beyond AVX3_DL and NEON, which add nothing that the kernels use. A
// build for sanitizers has only those with 16 and 32 bytes that differ most. (A better set is a lower bit.)
#if !defined(__x86_64__) && !defined(__i386__)
#define CORNERTURN_LEFT_OUT (HWY_RVV | (HWY_NEON - 1))
#elif defined(CORNERTURN_FEW_TARGETS)
#define CORNERTURN_LEFT_OUT (HWY_SSSE3 | HWY_SSE4 | (HWY_AVX2 - 1))
#else
#define CORNERTURN_LEFT_OUT (HWY_SSSE3 | (HWY_AVX3_DL - 1))
#endif
#if defined(CORNERTURN_THE_REST)
#define HWY_DISABLED_TARGETS (CORNERTURN_LEFT_OUT | CORNERTURN_TARGETS_WITH_FILES)
#else
#define HWY_DISABLED_TARGETS CORNERTURN_LEFT_OUT
#endif
#define HWY_WANT_AVX3_DL 1  // it picks each byte from either of two vectors
#include <hwy/detect_targets.h>
