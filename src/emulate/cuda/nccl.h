// NCCL. The emulator lacks it; with this header, programs that use it still compile.
#pragma once

#include "cuda_runtime_api.h"

typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
} ncclResult_t;

typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 } ncclRedOp_t;
typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
} ncclDataType_t;

typedef struct ncclComm* ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

inline const char* ncclGetErrorString(ncclResult_t result) {
    return result == ncclSuccess ? "no error" : "not supported: the emulator has no NCCL";
}

// NCCL has no code for "not supported". Each function returns ncclInvalidUsage, whatever its arguments.
#define CT_NOT_SUPPORTED(name)                  \
    template <class... ct_arguments>            \
    inline ncclResult_t name(ct_arguments...) { \
        return ncclInvalidUsage;                \
    }
CT_NOT_SUPPORTED(ncclGetUniqueId)
CT_NOT_SUPPORTED(ncclCommInitRank)
CT_NOT_SUPPORTED(ncclCommInitAll)
CT_NOT_SUPPORTED(ncclCommDestroy)
CT_NOT_SUPPORTED(ncclCommCount)
CT_NOT_SUPPORTED(ncclCommUserRank)
CT_NOT_SUPPORTED(ncclGroupStart)
CT_NOT_SUPPORTED(ncclGroupEnd)
CT_NOT_SUPPORTED(ncclAllReduce)
CT_NOT_SUPPORTED(ncclBroadcast)
CT_NOT_SUPPORTED(ncclReduce)
CT_NOT_SUPPORTED(ncclAllGather)
CT_NOT_SUPPORTED(ncclReduceScatter)
CT_NOT_SUPPORTED(ncclSend)
CT_NOT_SUPPORTED(ncclRecv)
#undef CT_NOT_SUPPORTED
