// What marks functions of CUDA's interface. The emulator's rewriter handles __global__ and its kin itself.
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
