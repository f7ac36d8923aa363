// cuBLAS's types and functions.
#pragma once

#define CUBLAS_API_H_  // programs test this include guard to find cuBLAS

#include <stddef.h>
#include <stdint.h>

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VER_BUILD 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3,
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;

// Algorithms. The emulator computes all of them in the same manner.
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
} cublasGemmAlgo_t;

typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
} cublasMath_t;

typedef cudaDataType cublasDataType_t;

typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
} cublasComputeType_t;

struct cublasContext;
typedef struct cublasContext* cublasHandle_t;

extern "C" {
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t streamId);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* streamId);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t workspaceSizeInBytes);

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* devicePtr, int incy);
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* hostPtr, int incx, void* devicePtr, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* devicePtr, int incx, void* hostPtr, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);

// Single and double precision have the same functions: CT_X is S or D, CT_T their type.
#define CT_CUBLAS_REAL(CT_X, CT_T)                                                                                     \
    cublasStatus_t cublas##CT_X##axpy(cublasHandle_t handle, int n, const CT_T* alpha, const CT_T* x, int incx,        \
                                      CT_T* y, int incy);                                                              \
    cublasStatus_t cublas##CT_X##scal(cublasHandle_t handle, int n, const CT_T* alpha, CT_T* x, int incx);             \
    cublasStatus_t cublas##CT_X##dot(cublasHandle_t handle, int n, const CT_T* x, int incx, const CT_T* y, int incy,   \
                                     CT_T* result);                                                                    \
    cublasStatus_t cublas##CT_X##nrm2(cublasHandle_t handle, int n, const CT_T* x, int incx, CT_T* result);            \
    cublasStatus_t cublas##CT_X##asum(cublasHandle_t handle, int n, const CT_T* x, int incx, CT_T* result);            \
    cublasStatus_t cublas##CT_X##copy(cublasHandle_t handle, int n, const CT_T* x, int incx, CT_T* y, int incy);       \
    cublasStatus_t cublas##CT_X##swap(cublasHandle_t handle, int n, CT_T* x, int incx, CT_T* y, int incy);             \
    cublasStatus_t cublas##CT_X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const CT_T* alpha, \
                                      const CT_T* A, int lda, const CT_T* x, int incx, const CT_T* beta, CT_T* y,      \
                                      int incy);                                                                       \
    cublasStatus_t cublas##CT_X##ger(cublasHandle_t handle, int m, int n, const CT_T* alpha, const CT_T* x, int incx,  \
                                     const CT_T* y, int incy, CT_T* A, int lda);                                       \
    cublasStatus_t cublas##CT_X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
                                      int m, int n, const CT_T* alpha, const CT_T* A, int lda, const CT_T* beta,       \
                                      const CT_T* B, int ldb, CT_T* C, int ldc);
CT_CUBLAS_REAL(S, float)
CT_CUBLAS_REAL(D, double)
#undef CT_CUBLAS_REAL
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result);

// Products of real and complex matrices.
#define CT_CUBLAS_GEMM(CT_X, CT_T)                                                                                     \
    cublasStatus_t cublas##CT_X##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
                                      int m, int n, int k, const CT_T* alpha, const CT_T* A, int lda, const CT_T* B,   \
                                      int ldb, const CT_T* beta, CT_T* C, int ldc);                                    \
    cublasStatus_t cublas##CT_X##gemmBatched(cublasHandle_t handle, cublasOperation_t transa,                          \
                                             cublasOperation_t transb, int m, int n, int k, const CT_T* alpha,         \
                                             const CT_T* const Aarray[], int lda, const CT_T* const Barray[], int ldb, \
                                             const CT_T* beta, CT_T* const Carray[], int ldc, int batchCount);         \
    cublasStatus_t cublas##CT_X##gemmStridedBatched(                                                                   \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,                \
        const CT_T* alpha, const CT_T* A, int lda, long long int strideA, const CT_T* B, int ldb,                      \
        long long int strideB, const CT_T* beta, CT_T* C, int ldc, long long int strideC, int batchCount);
CT_CUBLAS_GEMM(S, float)
CT_CUBLAS_GEMM(D, double)
CT_CUBLAS_GEMM(C, cuComplex)
CT_CUBLAS_GEMM(Z, cuDoubleComplex)
#undef CT_CUBLAS_GEMM

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo);
}

// A C++ overload for programs from before CUDA 11, which pass the compute type as a data type.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* A, cudaDataType Atype, int lda,
                                   const void* B, cudaDataType Btype, int ldb, const void* beta, void* C,
                                   cudaDataType Ctype, int ldc, cudaDataType computeType, cublasGemmAlgo_t algo) {
    const cublasComputeType_t compute = computeType == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                        : computeType == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                        : computeType == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                                    : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                        compute, algo);
}

// The emulator lacks these functions. They return "not supported", whatever their arguments.
#define CT_NOT_SUPPORTED(name)                    \
    template <class... ct_arguments>              \
    inline cublasStatus_t name(ct_arguments...) { \
        return CUBLAS_STATUS_NOT_SUPPORTED;       \
    }
CT_NOT_SUPPORTED(cublasSsyrk)
CT_NOT_SUPPORTED(cublasDsyrk)
CT_NOT_SUPPORTED(cublasSsymm)
CT_NOT_SUPPORTED(cublasDsymm)
CT_NOT_SUPPORTED(cublasStrsm)
CT_NOT_SUPPORTED(cublasDtrsm)
CT_NOT_SUPPORTED(cublasStrsv)
CT_NOT_SUPPORTED(cublasDtrsv)
CT_NOT_SUPPORTED(cublasStrmm)
CT_NOT_SUPPORTED(cublasDtrmm)
CT_NOT_SUPPORTED(cublasSsymv)
CT_NOT_SUPPORTED(cublasDsymv)
CT_NOT_SUPPORTED(cublasHgemm)
CT_NOT_SUPPORTED(cublasHgemmStridedBatched)
CT_NOT_SUPPORTED(cublasSgetrfBatched)
CT_NOT_SUPPORTED(cublasDgetrfBatched)
CT_NOT_SUPPORTED(cublasSgetriBatched)
CT_NOT_SUPPORTED(cublasDgetriBatched)
CT_NOT_SUPPORTED(cublasSdgmm)
CT_NOT_SUPPORTED(cublasDdgmm)
#undef CT_NOT_SUPPORTED
