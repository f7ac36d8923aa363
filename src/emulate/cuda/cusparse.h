// cuSPARSE. The emulator lacks it; with this header, programs that use it still compile.
#pragma once

#define CUSPARSEAPI  // programs test this macro to find cuSPARSE

#include "cuda_runtime_api.h"
#include "library_types.h"

typedef enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
} cusparseStatus_t;

typedef enum {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2,
} cusparseOperation_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 } cusparseSpMatAttribute_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
} cusparseSpMVAlg_t;
typedef enum {
    CUSPARSE_MATRIX_TYPE_GENERAL = 0,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
    CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3,
} cusparseMatrixType_t;

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct cusparseSpVecDescr* cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef struct cusparseSpSVDescr* cusparseSpSVDescr_t;
typedef struct csrilu02Info* csrilu02Info_t;

// Each function returns "not supported", whatever its arguments.
#define CT_NOT_SUPPORTED(name)                      \
    template <class... ct_arguments>                \
    inline cusparseStatus_t name(ct_arguments...) { \
        return CUSPARSE_STATUS_NOT_SUPPORTED;       \
    }
CT_NOT_SUPPORTED(cusparseCreate)
CT_NOT_SUPPORTED(cusparseDestroy)
CT_NOT_SUPPORTED(cusparseSetStream)
CT_NOT_SUPPORTED(cusparseSetPointerMode)
CT_NOT_SUPPORTED(cusparseCreateMatDescr)
CT_NOT_SUPPORTED(cusparseDestroyMatDescr)
CT_NOT_SUPPORTED(cusparseSetMatType)
CT_NOT_SUPPORTED(cusparseSetMatIndexBase)
CT_NOT_SUPPORTED(cusparseCreateCsr)
CT_NOT_SUPPORTED(cusparseCreateCoo)
CT_NOT_SUPPORTED(cusparseDestroySpMat)
CT_NOT_SUPPORTED(cusparseSpMatSetAttribute)
CT_NOT_SUPPORTED(cusparseCreateDnVec)
CT_NOT_SUPPORTED(cusparseDestroyDnVec)
CT_NOT_SUPPORTED(cusparseDnVecSetValues)
CT_NOT_SUPPORTED(cusparseCreateSpVec)
CT_NOT_SUPPORTED(cusparseDestroySpVec)
CT_NOT_SUPPORTED(cusparseCreateDnMat)
CT_NOT_SUPPORTED(cusparseDestroyDnMat)
CT_NOT_SUPPORTED(cusparseScatter)
CT_NOT_SUPPORTED(cusparseGather)
CT_NOT_SUPPORTED(cusparseSpMV)
CT_NOT_SUPPORTED(cusparseSpMV_bufferSize)
CT_NOT_SUPPORTED(cusparseSpMM)
CT_NOT_SUPPORTED(cusparseSpMM_bufferSize)
CT_NOT_SUPPORTED(cusparseSpSV_createDescr)
CT_NOT_SUPPORTED(cusparseSpSV_destroyDescr)
CT_NOT_SUPPORTED(cusparseSpSV_bufferSize)
CT_NOT_SUPPORTED(cusparseSpSV_analysis)
CT_NOT_SUPPORTED(cusparseSpSV_solve)
CT_NOT_SUPPORTED(cusparseCreateCsrilu02Info)
CT_NOT_SUPPORTED(cusparseDestroyCsrilu02Info)
CT_NOT_SUPPORTED(cusparseScsrilu02)
CT_NOT_SUPPORTED(cusparseScsrilu02_bufferSize)
CT_NOT_SUPPORTED(cusparseScsrilu02_analysis)
#undef CT_NOT_SUPPORTED
