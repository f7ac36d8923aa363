// cuFFT. The emulator lacks it; with this header, programs that use it still compile.
#pragma once

#define _CUFFT_H_  // programs test this include guard to find cuFFT

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

typedef enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_MISSING_DEPENDENCY = 17,
    CUFFT_NVRTC_FAILURE = 18,
    CUFFT_NVJITLINK_FAILURE = 19,
    CUFFT_NVSHMEM_FAILURE = 20,
} cufftResult;

typedef enum cufftType_t {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69,
} cufftType;

#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

// Each function returns "not supported", whatever its arguments.
#define CT_NOT_SUPPORTED(name)                 \
    template <class... ct_arguments>           \
    inline cufftResult name(ct_arguments...) { \
        return CUFFT_NOT_SUPPORTED;            \
    }
CT_NOT_SUPPORTED(cufftCreate)
CT_NOT_SUPPORTED(cufftDestroy)
CT_NOT_SUPPORTED(cufftPlan1d)
CT_NOT_SUPPORTED(cufftPlan2d)
CT_NOT_SUPPORTED(cufftPlan3d)
CT_NOT_SUPPORTED(cufftPlanMany)
CT_NOT_SUPPORTED(cufftMakePlan1d)
CT_NOT_SUPPORTED(cufftMakePlan2d)
CT_NOT_SUPPORTED(cufftMakePlan3d)
CT_NOT_SUPPORTED(cufftMakePlanMany)
CT_NOT_SUPPORTED(cufftEstimate1d)
CT_NOT_SUPPORTED(cufftGetSize)
CT_NOT_SUPPORTED(cufftSetStream)
CT_NOT_SUPPORTED(cufftSetWorkArea)
CT_NOT_SUPPORTED(cufftSetAutoAllocation)
CT_NOT_SUPPORTED(cufftGetVersion)
CT_NOT_SUPPORTED(cufftExecC2C)
CT_NOT_SUPPORTED(cufftExecR2C)
CT_NOT_SUPPORTED(cufftExecC2R)
CT_NOT_SUPPORTED(cufftExecZ2Z)
CT_NOT_SUPPORTED(cufftExecD2Z)
CT_NOT_SUPPORTED(cufftExecZ2D)
#undef CT_NOT_SUPPORTED
