// The dialect that kernels are written in: plain CUDA C++. nvcc compiles a kernel file for the GPU; g++ compiles the
// same file for the emulator, where dialect_emulated.hpp supplies CUDA's words. The one difference to CUDA: a kernel is
// launched by launch(shape, kernel, arguments...), because no host compiler parses <<<>>>.
//
// Kernel files put everything into namespace CORNERTURN_KERNELS, which lies in one that the build names: one for each
// build, so that both can live in one program, and for each rung's file, so that kernels of one name in two files stay
// two, and no helper resolves to another's copy (cmake/Kernels.cmake).
//
// For the emulator: __syncwarp and shuffles order the lanes of a warp as if all took part, whatever their mask, when
// races are looked for. Shared arrays are declared in the kernel function itself, not in a __device__ function that it
// calls (pass a pointer); kernels use no standard containers.
#pragma once

#if defined(CORNERTURN_EMULATED)
#include "device/dialect_emulated.hpp"
#else
#include "device/dialect_cuda.hpp"
#endif
