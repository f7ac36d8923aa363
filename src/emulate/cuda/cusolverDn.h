// cuSOLVER for dense matrices. The emulator lacks it; with this header, programs that use it still compile.
#pragma once

#define CUSOLVER_COMMON_H_  // programs test this include guard to find cuSOLVER

#include "cublas_api.h"

typedef enum {
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_ARCH_MISMATCH = 4,
    CUSOLVER_STATUS_MAPPING_ERROR = 5,
    CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_INTERNAL_ERROR = 7,
    CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9,
    CUSOLVER_STATUS_ZERO_PIVOT = 10,
    CUSOLVER_STATUS_INVALID_LICENSE = 11,
} cusolverStatus_t;

typedef struct cusolverDnContext* cusolverDnHandle_t;

// Each function returns "not supported", whatever its arguments.
#define CT_NOT_SUPPORTED(name)                      \
    template <class... ct_arguments>                \
    inline cusolverStatus_t name(ct_arguments...) { \
        return CUSOLVER_STATUS_NOT_SUPPORTED;       \
    }
CT_NOT_SUPPORTED(cusolverDnCreate)
CT_NOT_SUPPORTED(cusolverDnDestroy)
CT_NOT_SUPPORTED(cusolverDnSetStream)
CT_NOT_SUPPORTED(cusolverDnSpotrf)
CT_NOT_SUPPORTED(cusolverDnDpotrf)
CT_NOT_SUPPORTED(cusolverDnSpotrf_bufferSize)
CT_NOT_SUPPORTED(cusolverDnDpotrf_bufferSize)
CT_NOT_SUPPORTED(cusolverDnDpotrs)
CT_NOT_SUPPORTED(cusolverDnSgetrf)
CT_NOT_SUPPORTED(cusolverDnDgetrf)
CT_NOT_SUPPORTED(cusolverDnSgetrf_bufferSize)
CT_NOT_SUPPORTED(cusolverDnDgetrf_bufferSize)
CT_NOT_SUPPORTED(cusolverDnSgetrs)
CT_NOT_SUPPORTED(cusolverDnDgetrs)
CT_NOT_SUPPORTED(cusolverDnDgeqrf)
CT_NOT_SUPPORTED(cusolverDnDgeqrf_bufferSize)
CT_NOT_SUPPORTED(cusolverDnDormqr)
CT_NOT_SUPPORTED(cusolverDnDormqr_bufferSize)
CT_NOT_SUPPORTED(cusolverDnSgesvd)
CT_NOT_SUPPORTED(cusolverDnDgesvd)
CT_NOT_SUPPORTED(cusolverDnDsyevd)
#undef CT_NOT_SUPPORTED
