// cuBLAS: handles, vector functions (level 1) and matrix-vector functions (level 2). cublas_gemm.cpp has the matrix
// products.
#include <cmath>
#include <cstdlib>
#include <utility>

#include "emulate/runtime/cublas_handle.hpp"
#include "emulate/runtime/matrix_product.hpp"
#include "emulate/runtime/streams.hpp"

namespace cornerturn::emulator {

handles<cublasContext>& cublas_handles() {
    static auto* const one = new handles<cublasContext>;
    return *one;
}

namespace {

// A vector in BLAS's sense. With a negative increment its first element is the last one in memory.
template <class T>
struct vector_view {
    T* at;
    std::int64_t n, step;

    T& operator[](std::int64_t i) const { return at[step >= 0 ? i * step : (i - n + 1) * step]; }
    bool on_device() const {
        return n <= 0 || device_range(at, sizeof(T) * (static_cast<std::size_t>((n - 1) * std::abs(step)) + 1));
    }
};

// The pointer mode says whether `result` is host or device memory. The host can write both.
template <class T>
cublasStatus_t store_result(T* result, T value) {
    *result = value;
    return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
    return cublas_call(handle, [&] {
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
        const vector_view<const T> from{x, n, incx};
        const vector_view<T> to{y, n, incy};
        if (!from.on_device() || !to.on_device()) return illegal_address();
        for (int i = 0; i < n; ++i) to[i] += *alpha * from[i];
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {
    return cublas_call(handle, [&] {
        if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
        if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
        const vector_view<T> to{x, n, incx};
        if (!to.on_device()) return illegal_address();
        for (int i = 0; i < n; ++i) to[i] *= *alpha;
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
    return cublas_call(handle, [&] {
        if (!result) return CUBLAS_STATUS_INVALID_VALUE;
        const vector_view<const T> a{x, n, incx}, b{y, n, incy};
        if (!a.on_device() || !b.on_device()) return illegal_address();
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        return store_result(result, static_cast<T>(sum));
    });
}

template <class T, class Sum>
cublasStatus_t reduce(cublasHandle_t handle, int n, const T* x, int incx, T* result, const Sum& sum_of) {
    return cublas_call(handle, [&] {
        if (!result) return CUBLAS_STATUS_INVALID_VALUE;
        if (n <= 0 || incx <= 0) return store_result(result, T{0});
        const vector_view<const T> a{x, n, incx};
        if (!a.on_device()) return illegal_address();
        return store_result(result, static_cast<T>(sum_of(a)));
    });
}

template <class T>
cublasStatus_t nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {
    return reduce(handle, n, x, incx, result, [](const vector_view<const T>& a) {
        long double sum = 0;  // its exponent range holds the square of every double
        for (std::int64_t i = 0; i < a.n; ++i) sum += static_cast<long double>(a[i]) * static_cast<long double>(a[i]);
        return std::sqrt(sum);
    });
}

template <class T>
cublasStatus_t asum(cublasHandle_t handle, int n, const T* x, int incx, T* result) {
    return reduce(handle, n, x, incx, result, [](const vector_view<const T>& a) {
        double sum = 0;
        for (std::int64_t i = 0; i < a.n; ++i) sum += std::abs(static_cast<double>(a[i]));
        return sum;
    });
}

// The first index, counted from 1, of the largest or smallest magnitude. 0: the vector has no elements.
template <class T>
cublasStatus_t extreme(cublasHandle_t handle, int n, const T* x, int incx, int* result, bool largest) {
    return cublas_call(handle, [&] {
        if (!result) return CUBLAS_STATUS_INVALID_VALUE;
        if (n <= 0 || incx <= 0) return store_result(result, 0);
        const vector_view<const T> a{x, n, incx};
        if (!a.on_device()) return illegal_address();
        int best = 0;
        for (int i = 1; i < n; ++i) {
            const T magnitude = std::abs(a[i]), known = std::abs(a[best]);
            if (largest ? magnitude > known : magnitude < known) best = i;
        }
        return store_result(result, best + 1);
    });
}

template <class T>
cublasStatus_t copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {
    return cublas_call(handle, [&] {
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        const vector_view<const T> from{x, n, incx};
        const vector_view<T> to{y, n, incy};
        if (!from.on_device() || !to.on_device()) return illegal_address();
        for (int i = 0; i < n; ++i) to[i] = from[i];
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {
    return cublas_call(handle, [&] {
        if (n <= 0) return CUBLAS_STATUS_SUCCESS;
        const vector_view<T> a{x, n, incx}, b{y, n, incy};
        if (!a.on_device() || !b.on_device()) return illegal_address();
        for (int i = 0; i < n; ++i) std::swap(a[i], b[i]);
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
constexpr cudaDataType type_of = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

template <class T>
cublasStatus_t gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T* alpha, const T* a, int lda,
                    const T* x, int incx, const T* beta, T* y, int incy) {
    return cublas_call(handle, [&] {
        if (m < 0 || n < 0 || lda < std::max(1, m) || !incx || !incy || !alpha || !beta || op > CUBLAS_OP_CONJG) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
        if (!m || !n) return CUBLAS_STATUS_SUCCESS;
        const bool transposed = op == CUBLAS_OP_T || op == CUBLAS_OP_C;
        const vector_view<const T> from{x, transposed ? m : n, incx};
        const vector_view<T> to{y, transposed ? n : m, incy};
        const bool used = *alpha != T{0};
        if (!to.on_device() || (used && !(from.on_device() && device_matrix(a, type_of<T>, m, n, lda)))) {
            return illegal_address();
        }
        const std::int64_t row_step = transposed ? lda : 1, inner_step = transposed ? 1 : lda;
        for (std::int64_t i = 0; i < to.n; ++i) {
            T sum{0};
            for (std::int64_t p = 0; used && p < from.n; ++p) sum += a[i * row_step + p * inner_step] * from[p];
            to[i] = *alpha * sum + (*beta == T{0} ? T{0} : *beta * to[i]);
        }
        return CUBLAS_STATUS_SUCCESS;
    });
}

template <class T>
cublasStatus_t ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy,
                   T* a, int lda) {
    return cublas_call(handle, [&] {
        if (m < 0 || n < 0 || lda < std::max(1, m) || !incx || !incy || !alpha) return CUBLAS_STATUS_INVALID_VALUE;
        if (!m || !n) return CUBLAS_STATUS_SUCCESS;
        const vector_view<const T> rows{x, m, incx}, cols{y, n, incy};
        if (!rows.on_device() || !cols.on_device() || !device_matrix(a, type_of<T>, m, n, lda)) {
            return illegal_address();
        }
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = 0; i < m; ++i) a[j * lda + i] += *alpha * rows[i] * cols[j];
        }
        return CUBLAS_STATUS_SUCCESS;
    });
}

// C = alpha op(A) + beta op(B). C may be A if A is not transposed, and B if B is not transposed.
template <class T>
cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, const T* alpha,
                    const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
    return cublas_call(handle, [&] {
        if (m < 0 || n < 0 || !alpha || !beta || ldc < std::max(1, m)) return CUBLAS_STATUS_INVALID_VALUE;
        const bool transpose_a = op_a == CUBLAS_OP_T || op_a == CUBLAS_OP_C,
                   transpose_b = op_b == CUBLAS_OP_T || op_b == CUBLAS_OP_C;
        if ((c == a && (transpose_a || lda != ldc)) || (c == b && (transpose_b || ldb != ldc))) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
        if (lda < std::max(1, transpose_a ? n : m) || ldb < std::max(1, transpose_b ? n : m))
            return CUBLAS_STATUS_INVALID_VALUE;
        if (!m || !n) return CUBLAS_STATUS_SUCCESS;
        const bool use_a = *alpha != T{0}, use_b = *beta != T{0};
        if ((use_a && !device_matrix(a, type_of<T>, transpose_a ? n : m, transpose_a ? m : n, lda)) ||
            (use_b && !device_matrix(b, type_of<T>, transpose_b ? n : m, transpose_b ? m : n, ldb)) ||
            !device_matrix(c, type_of<T>, m, n, ldc)) {
            return illegal_address();
        }
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t i = 0; i < m; ++i) {
                const T x = use_a ? *alpha * a[transpose_a ? i * lda + j : j * lda + i] : T{0};
                const T y = use_b ? *beta * b[transpose_b ? i * ldb + j : j * ldb + i] : T{0};
                c[j * ldc + i] = x + y;
            }
        }
        return CUBLAS_STATUS_SUCCESS;
    });
}

cublasStatus_t status_of(cudaError_t error) {
    if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_MAPPING_ERROR;
}

// A vector is a matrix of one row.
cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void* a, int lda, void* b, int ldb,
                           cudaMemcpyKind kind) {
    if (rows < 0 || cols < 0 || bytes <= 0 || lda <= 0 || ldb <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    const auto size = static_cast<std::size_t>(bytes);
    return status_of(cudaMemcpy2D(b, static_cast<std::size_t>(ldb) * size, a, static_cast<std::size_t>(lda) * size,
                                  static_cast<std::size_t>(rows) * size, static_cast<std::size_t>(cols), kind));
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = cublas_handles().add({});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    return cublas_handles().remove(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) {
    return cublas_setting(handle, [&] {
        if (!version) return CUBLAS_STATUS_INVALID_VALUE;
        *version = CUBLAS_VERSION;
        return CUBLAS_STATUS_SUCCESS;
    });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
    if (!value || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
    *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : 0;
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
        case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
        case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
        case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
        case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
        case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
        case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
        case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
        case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
        case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
        case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "unknown cublasStatus_t";
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t streamId) {
    return cublas_setting(handle, [&] {
        if (!stream_exists(streamId)) return CUBLAS_STATUS_INVALID_VALUE;
        handle->stream = streamId;
        return CUBLAS_STATUS_SUCCESS;
    });
}

#define CT_SETTING(Name, Type, member)                                 \
    cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type mode) { \
        return cublas_setting(handle, [&] {                            \
            handle->member = mode;                                     \
            return CUBLAS_STATUS_SUCCESS;                              \
        });                                                            \
    }                                                                  \
    CT_GETTER(Name, Type, member)
#define CT_GETTER(Name, Type, member)                                   \
    cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type* mode) { \
        return cublas_setting(handle, [&] {                             \
            if (!mode) return CUBLAS_STATUS_INVALID_VALUE;              \
            *mode = handle->member;                                     \
            return CUBLAS_STATUS_SUCCESS;                               \
        });                                                             \
    }
CT_GETTER(Stream, cudaStream_t, stream)
CT_SETTING(PointerMode, cublasPointerMode_t, pointer_mode)
CT_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode)
CT_SETTING(MathMode, cublasMath_t, math_mode)
#undef CT_SETTING
#undef CT_GETTER

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
    return cublas_setting(handle, [] { return CUBLAS_STATUS_SUCCESS; });
}

cublasStatus_t cublasSetVector(int n, int elemSize, const void* x, int incx, void* devicePtr, int incy) {
    return copy_matrix(1, n, elemSize, x, incx, devicePtr, incy, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int elemSize, const void* x, int incx, void* y, int incy) {
    return copy_matrix(1, n, elemSize, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
    return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb) {
    return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetVectorAsync(int n, int elemSize, const void* hostPtr, int incx, void* devicePtr, int incy,
                                    cudaStream_t) {
    return cublasSetVector(n, elemSize, hostPtr, incx, devicePtr, incy);
}
cublasStatus_t cublasGetVectorAsync(int n, int elemSize, const void* devicePtr, int incx, void* hostPtr, int incy,
                                    cudaStream_t) {
    return cublasGetVector(n, elemSize, devicePtr, incx, hostPtr, incy);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t) {
    return cublasSetMatrix(rows, cols, elemSize, A, lda, B, ldb);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elemSize, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t) {
    return cublasGetMatrix(rows, cols, elemSize, A, lda, B, ldb);
}

#define CT_REAL(X, x, T)                                                                                             \
    cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T* alpha, const T* from, int incx, T* y,      \
                                   int incy) {                                                                       \
        return axpy(handle, n, alpha, from, incx, y, incy);                                                          \
    }                                                                                                                \
    cublasStatus_t cublas##X##scal(cublasHandle_t handle, int n, const T* alpha, T* to, int incx) {                  \
        return scal(handle, n, alpha, to, incx);                                                                     \
    }                                                                                                                \
    cublasStatus_t cublas##X##dot(cublasHandle_t handle, int n, const T* a, int incx, const T* b, int incy,          \
                                  T* result) {                                                                       \
        return dot(handle, n, a, incx, b, incy, result);                                                             \
    }                                                                                                                \
    cublasStatus_t cublas##X##nrm2(cublasHandle_t handle, int n, const T* a, int incx, T* result) {                  \
        return nrm2(handle, n, a, incx, result);                                                                     \
    }                                                                                                                \
    cublasStatus_t cublas##X##asum(cublasHandle_t handle, int n, const T* a, int incx, T* result) {                  \
        return asum(handle, n, a, incx, result);                                                                     \
    }                                                                                                                \
    cublasStatus_t cublas##X##copy(cublasHandle_t handle, int n, const T* from, int incx, T* y, int incy) {          \
        return copy(handle, n, from, incx, y, incy);                                                                 \
    }                                                                                                                \
    cublasStatus_t cublas##X##swap(cublasHandle_t handle, int n, T* a, int incx, T* b, int incy) {                   \
        return swap(handle, n, a, incx, b, incy);                                                                    \
    }                                                                                                                \
    cublasStatus_t cublasI##x##amax(cublasHandle_t handle, int n, const T* a, int incx, int* result) {               \
        return extreme(handle, n, a, incx, result, true);                                                            \
    }                                                                                                                \
    cublasStatus_t cublasI##x##amin(cublasHandle_t handle, int n, const T* a, int incx, int* result) {               \
        return extreme(handle, n, a, incx, result, false);                                                           \
    }                                                                                                                \
    cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,     \
                                   const T* A, int lda, const T* from, int incx, const T* beta, T* y, int incy) {    \
        return gemv(handle, trans, m, n, alpha, A, lda, from, incx, beta, y, incy);                                  \
    }                                                                                                                \
    cublasStatus_t cublas##X##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* from, int incx,      \
                                  const T* y, int incy, T* A, int lda) {                                             \
        return ger(handle, m, n, alpha, from, incx, y, incy, A, lda);                                                \
    }                                                                                                                \
    cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, \
                                   int n, const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb,   \
                                   T* C, int ldc) {                                                                  \
        return geam(handle, transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc);                              \
    }
CT_REAL(S, s, float)
CT_REAL(D, d, double)
#undef CT_REAL

}  // extern "C"
