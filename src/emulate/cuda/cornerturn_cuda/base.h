// What all of these headers share.
#pragma once

// A function that device code calls: nvcc inlines nearly all of them, and so does the emulator's build.
#define CT_WORD inline __attribute__((always_inline))
