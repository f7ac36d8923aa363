// Matrix products of cuBLAS.
#include <functional>

#include "emulate/runtime/cublas_handle.hpp"
#include "emulate/runtime/matrix_product.hpp"

namespace cornerturn::emulator {

bool device_matrix(const void* at, cudaDataType type, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    if (rows <= 0 || cols <= 0) return true;
    return device_range(at, static_cast<std::size_t>((cols - 1) * ld + rows) * element_bytes(type));
}

namespace {

// One product, or a batch of products of one shape.
struct gemm {
    cublasOperation_t op_a, op_b;
    std::int64_t m, n, k;
    const void *alpha, *beta;
    cudaDataType a_type, b_type, c_type;
    std::int64_t lda, ldb, ldc;
    std::int64_t batches = 1;
    std::function<const void*(std::int64_t)> a, b;  // by batch element
    std::function<void*(std::int64_t)> c;
};

bool is_operation(cublasOperation_t op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_CONJG; }
bool transposes(cublasOperation_t op) { return op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

cublasStatus_t check(const gemm& g) {
    if (!is_operation(g.op_a) || !is_operation(g.op_b)) return CUBLAS_STATUS_INVALID_VALUE;
    if (g.m < 0 || g.n < 0 || g.k < 0 || g.batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const std::int64_t a_rows = transposes(g.op_a) ? g.k : g.m, b_rows = transposes(g.op_b) ? g.n : g.k;
    if (g.lda < std::max<std::int64_t>(1, a_rows) || g.ldb < std::max<std::int64_t>(1, b_rows) ||
        g.ldc < std::max<std::int64_t>(1, g.m)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return g.alpha && g.beta ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

template <class Compute>
cublasStatus_t run_one(const gemm& g, std::int64_t batch, const scale_factors<Compute>& by) {
    const operand a{g.a(batch), g.a_type, g.lda, g.op_a}, b{g.b(batch), g.b_type, g.ldb, g.op_b};
    void* const c = g.c(batch);
    const bool used = g.k > 0 && !(by.alpha == Compute{});  // if not, A and B are not read
    const bool a_fits = device_matrix(a.at, a.type, transposes(a.op) ? g.k : g.m, transposes(a.op) ? g.m : g.k, a.ld);
    const bool b_fits = device_matrix(b.at, b.type, transposes(b.op) ? g.n : g.k, transposes(b.op) ? g.k : g.n, b.ld);
    if ((used && !(a_fits && b_fits)) || !device_matrix(c, g.c_type, g.m, g.n, g.ldc)) return illegal_address();
    with_element<Compute>(g.c_type, [&](auto element) {
        using stored_type = decltype(element);
        multiply<Compute>(g.m, g.n, used ? g.k : 0, a, b, [&](std::int64_t row, std::int64_t col, Compute sum) {
            stored_type& at = static_cast<stored_type*>(c)[col * g.ldc + row];
            at = stored<stored_type>(by.scaled(sum, &at));
        });
    });
    return CUBLAS_STATUS_SUCCESS;
}

// `Scale`: the type of alpha and beta.
template <class Compute, class Scale = Compute>
cublasStatus_t run(cublasHandle_t handle, const gemm& g) {
    return cublas_call(handle, [&] {
        if (const cublasStatus_t status = check(g)) return status;
        if (!takes<Compute>(g.a_type) || !takes<Compute>(g.b_type) || !takes<Compute>(g.c_type)) {
            return CUBLAS_STATUS_NOT_SUPPORTED;
        }
        if (!g.m || !g.n) return CUBLAS_STATUS_SUCCESS;
        const auto by = scale_factors<Compute>::template read<Scale>(g.alpha, g.beta);
        for (std::int64_t batch = 0; batch < g.batches; ++batch) {
            if (const cublasStatus_t status = run_one<Compute>(g, batch, by)) return status;
        }
        return CUBLAS_STATUS_SUCCESS;
    });
}

cublasStatus_t run_as(cublasHandle_t handle, const gemm& g, cublasComputeType_t compute) {
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC: return run<float, half_bits>(handle, g);  // rounded once, at the end
        case CUBLAS_COMPUTE_32F:
        case CUBLAS_COMPUTE_32F_PEDANTIC:
        case CUBLAS_COMPUTE_32F_FAST_16F:
        case CUBLAS_COMPUTE_32F_FAST_16BF:
        case CUBLAS_COMPUTE_32F_FAST_TF32:
            if (g.a_type == CUDA_C_32F) return run<complex_number<float>>(handle, g);
            return run<float>(handle, g);
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            if (g.a_type == CUDA_C_64F) return run<complex_number<double>>(handle, g);
            return run<double>(handle, g);
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC: return run<std::int32_t>(handle, g);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

auto strided(const void* at, cudaDataType type, std::int64_t stride = 0) {
    const std::int64_t bytes = stride * static_cast<std::int64_t>(element_bytes(type));
    return [at, bytes](std::int64_t batch) -> const void* { return static_cast<const char*>(at) + batch * bytes; };
}
auto strided(void* at, cudaDataType type, std::int64_t stride = 0) {
    const std::int64_t bytes = stride * static_cast<std::int64_t>(element_bytes(type));
    return [at, bytes](std::int64_t batch) -> void* { return static_cast<char*>(at) + batch * bytes; };
}
template <class Pointer>
auto listed(Pointer const* pointers) {
    return [pointers](std::int64_t batch) { return pointers[batch]; };
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

#define CT_GEMM(X, T, COMPUTE, TYPE)                                                                                   \
    cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,   \
                                   int n, int k, const T* alpha, const T* A, int lda, const T* B, int ldb,             \
                                   const T* beta, T* C, int ldc) {                                                     \
        return run<COMPUTE>(handle, {transa, transb, m, n, k, alpha, beta, TYPE, TYPE, TYPE, lda, ldb, ldc, 1,         \
                                     strided(A, TYPE), strided(B, TYPE), strided(C, TYPE)});                           \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                                          int m, int n, int k, const T* alpha, const T* const Aarray[], int lda,       \
                                          const T* const Barray[], int ldb, const T* beta, T* const Carray[], int ldc, \
                                          int batchCount) {                                                            \
        return run<COMPUTE>(handle, {transa, transb, m, n, k, alpha, beta, TYPE, TYPE, TYPE, lda, ldb, ldc,            \
                                     batchCount, listed(Aarray), listed(Barray), listed(Carray)});                     \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,                \
        const T* alpha, const T* A, int lda, long long int strideA, const T* B, int ldb, long long int strideB,        \
        const T* beta, T* C, int ldc, long long int strideC, int batchCount) {                                         \
        return run<COMPUTE>(handle,                                                                                    \
                            {transa, transb, m, n, k, alpha, beta, TYPE, TYPE, TYPE, lda, ldb, ldc, batchCount,        \
                             strided(A, TYPE, strideA), strided(B, TYPE, strideB), strided(C, TYPE, strideC)});        \
    }
CT_GEMM(S, float, float, CUDA_R_32F)
CT_GEMM(D, double, double, CUDA_R_64F)
CT_GEMM(C, cuComplex, complex_number<float>, CUDA_C_32F)
CT_GEMM(Z, cuDoubleComplex, complex_number<double>, CUDA_C_64F)
#undef CT_GEMM

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                             cudaDataType Btype, int ldb, const float* beta, void* C, cudaDataType Ctype, int ldc) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C, cudaDataType Ctype, int ldc,
                            cublasComputeType_t computeType, cublasGemmAlgo_t) {
    return run_as(handle,
                  {transa, transb, m, n, k, alpha, beta, Atype, Btype, Ctype, lda, ldb, ldc, 1, strided(A, Atype),
                   strided(B, Btype), strided(C, Ctype)},
                  computeType);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const Aarray[], cudaDataType Atype,
                                   int lda, const void* const Barray[], cudaDataType Btype, int ldb, const void* beta,
                                   void* const Carray[], cudaDataType Ctype, int ldc, int batchCount,
                                   cublasComputeType_t computeType, cublasGemmAlgo_t) {
    return run_as(handle,
                  {transa, transb, m, n, k, alpha, beta, Atype, Btype, Ctype, lda, ldb, ldc, batchCount, listed(Aarray),
                   listed(Barray), listed(Carray)},
                  computeType);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, long long int strideA, const void* B, cudaDataType Btype, int ldb,
                                          long long int strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long int strideC, int batchCount, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t) {
    return run_as(handle,
                  {transa, transb, m, n, k, alpha, beta, Atype, Btype, Ctype, lda, ldb, ldc, batchCount,
                   strided(A, Atype, strideA), strided(B, Btype, strideB), strided(C, Ctype, strideC)},
                  computeType);
}

}  // extern "C"
