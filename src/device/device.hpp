// Kernels are written in plain CUDA C++. nvcc compiles a kernel file for the GPU. g++ compiles the same file for the
// emulator; dialect_emulated.hpp then supplies CUDA's words. There is one difference to CUDA: launch(shape, kernel,
// arguments...) launches a kernel, because no host compiler parses <<<>>>.
//
// Kernel files put everything into namespace CORNERTURN_KERNELS. The build puts this into another namespace, one for
// each build and each rung's file (cmake/Kernels.cmake). Both builds can then be in one program, kernels of the same
// name in two files stay apart, and no helper resolves to another file's copy.
//
// Limits of the emulator: when it looks for races, __syncwarp and shuffles order all lanes of a warp, whatever the
// mask. Declare shared arrays in the kernel function itself, not in a __device__ function that it calls; pass a pointer
// instead. Kernels use no standard containers.
#pragma once

#if defined(CORNERTURN_EMULATED)
#include "device/dialect_emulated.hpp"
#else
#include "device/dialect_cuda.hpp"
#endif
