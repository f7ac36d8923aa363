// Shared by all of these headers.
#pragma once

// Marks a function that device code calls. nvcc inlines nearly all of these functions, so the emulator does too.
#define CT_INLINE inline __attribute__((always_inline))
