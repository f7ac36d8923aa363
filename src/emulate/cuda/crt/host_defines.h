// Macros that mark functions of CUDA's interface. The emulator's rewriter handles the qualifiers of kernels.
#pragma once

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
#ifndef CUDA_CB
#define CUDA_CB
#endif
