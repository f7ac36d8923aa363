// cuBLAS: products with all transpositions and types against plain loops, vectors, and invalid arguments.
// Link with -lcublas -lcublasLt.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "expect.h"

#define EXPECT_BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

template <class T>
struct device_array {
    explicit device_array(const std::vector<T>& from) : count(from.size()) {
        EXPECT_SUCCESS(cudaMalloc(&at, count * sizeof(T)));
        EXPECT_SUCCESS(cudaMemcpy(at, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device_array() { cudaFree(at); }
    device_array(const device_array&) = delete;
    std::vector<T> host() const {
        std::vector<T> to(count);
        EXPECT_SUCCESS(cudaMemcpy(to.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
    T* at = nullptr;
    std::size_t count;
};

// Small whole numbers: every type here holds them and their sums exactly.
template <class T>
std::vector<T> numbers(int count, int seed) {
    std::vector<T> made;
    unsigned state = static_cast<unsigned>(seed) * 2654435761u + 1;
    for (int i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        made.push_back(static_cast<T>(static_cast<float>(static_cast<int>(state >> 29) - 3)));
    }
    return made;
}

template <class T>
double element(const std::vector<T>& matrix, int ld, bool transposed, int row, int col) {
    return static_cast<double>(static_cast<float>(matrix[transposed ? row * ld + col : col * ld + row]));
}

// What C holds afterwards; `ldc` rows a column, of which m are the matrix's.
template <class T>
bool right(const std::vector<T>& got, const std::vector<T>& before, const std::vector<T>& a, const std::vector<T>& b,
           bool turn_a, bool turn_b, int m, int n, int k, int lda, int ldb, int ldc, double alpha, double beta) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < ldc; ++i) {
            double wanted = element(before, ldc, false, i, j);
            if (i < m) {
                double sum = 0;
                for (int p = 0; p < k; ++p) sum += element(a, lda, turn_a, i, p) * element(b, ldb, turn_b, p, j);
                wanted = alpha * sum + beta * wanted;
            }
            if (element(got, ldc, false, i, j) != wanted) return false;
        }
    }
    return true;
}

static void products(cublasHandle_t handle) {
    const int m = 37, n = 21, k = 50, ldc = m + 3;
    for (int turns = 0; turns < 4; ++turns) {
        const bool turn_a = turns & 1, turn_b = turns & 2;
        const cublasOperation_t op_a = turn_a ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
        const int lda = (turn_a ? k : m) + 1, ldb = (turn_b ? n : k) + 2;
        {
            const auto a = numbers<float>(lda * 64, 1), b = numbers<float>(ldb * 64, 2), c = numbers<float>(ldc * n, 3);
            device_array<float> da(a), db(b), dc(c);
            const float alpha = 2, beta = -1;
            EXPECT_BLAS(cublasSgemm(handle, op_a, op_b, m, n, k, &alpha, da.at, lda, db.at, ldb, &beta, dc.at, ldc));
            EXPECT(right(dc.host(), c, a, b, turn_a, turn_b, m, n, k, lda, ldb, ldc, 2, -1));
        }
        {
            const auto a = numbers<double>(lda * 64, 4), b = numbers<double>(ldb * 64, 5);
            const auto c = numbers<double>(ldc * n, 6);
            device_array<double> da(a), db(b), dc(c);
            const double alpha = 1, beta = 0;
            EXPECT_BLAS(cublasDgemm(handle, op_a, op_b, m, n, k, &alpha, da.at, lda, db.at, ldb, &beta, dc.at, ldc));
            EXPECT(right(dc.host(), c, a, b, turn_a, turn_b, m, n, k, lda, ldb, ldc, 1, 0));
        }
        {
            const auto a = numbers<__half>(lda * 64, 7), b = numbers<__half>(ldb * 64, 8);
            const auto c = numbers<__half>(ldc * n, 9);
            device_array<__half> da(a), db(b), dc(c);
            const float alpha = 1, beta = 1;
            EXPECT_BLAS(cublasGemmEx(handle, op_a, op_b, m, n, k, &alpha, da.at, CUDA_R_16F, lda, db.at, CUDA_R_16F,
                                     ldb, &beta, dc.at, CUDA_R_16F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
            EXPECT(right(dc.host(), c, a, b, turn_a, turn_b, m, n, k, lda, ldb, ldc, 1, 1));
        }
        {
            // bfloat16 holds whole numbers to 256: a short inner dimension keeps the sums there.
            const auto a = numbers<__nv_bfloat16>(lda * 64, 10), b = numbers<__nv_bfloat16>(ldb * 64, 11);
            const auto c = numbers<__nv_bfloat16>(ldc * n, 12);
            device_array<__nv_bfloat16> da(a), db(b), dc(c);
            const float alpha = 1, beta = 0;
            EXPECT_BLAS(cublasGemmEx(handle, op_a, op_b, m, n, 8, &alpha, da.at, CUDA_R_16BF, lda, db.at, CUDA_R_16BF,
                                     ldb, &beta, dc.at, CUDA_R_16BF, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
            EXPECT(right(dc.host(), c, a, b, turn_a, turn_b, m, n, 8, lda, ldb, ldc, 1, 0));
        }
    }
}

static void batches(cublasHandle_t handle) {
    const int n = 9, size = n * n, count = 3;
    const auto a = numbers<float>(size * count, 1), b = numbers<float>(size * count, 2);
    const std::vector<float> zero(size * count, 0);
    device_array<float> da(a), db(b), dc(zero), dd(zero);
    const float one = 1, none = 0;
    EXPECT_BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, da.at, n, size, db.at, n,
                                          size, &none, dc.at, n, size, count));
    std::vector<const float*> as, bs;
    std::vector<float*> ds;
    for (int i = 0; i < count; ++i) {
        as.push_back(da.at + i * size);
        bs.push_back(db.at + i * size);
        ds.push_back(dd.at + i * size);
    }
    device_array<const float*> das(as), dbs(bs);
    device_array<float*> dds(ds);
    EXPECT_BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, das.at, n, dbs.at, n, &none, dds.at,
                                   n, count));
    EXPECT(dc.host() == dd.host());
    for (int i = 0; i < count; ++i) {
        const auto part = [&](const std::vector<float>& of) {
            return std::vector<float>(of.begin() + i * size, of.begin() + (i + 1) * size);
        };
        EXPECT(right(part(dc.host()), part(zero), part(a), part(b), false, true, n, n, n, n, n, n, 1, 0));
    }
}

static void vectors(cublasHandle_t handle) {
    device_array<float> x({1, -5, 3, 4}), y({2, 2, 2, 2}), a({1, 2, 3, 4, 5, 6, 7, 8});
    float alpha = 2, beta = 1, result = 0;
    int index = 0;
    EXPECT_BLAS(cublasSdot(handle, 4, x.at, 1, y.at, 1, &result));
    EXPECT(result == 6);
    EXPECT_BLAS(cublasSnrm2(handle, 2, y.at, 1, &result));
    EXPECT(std::fabs(result - std::sqrt(8.0f)) < 1e-5f);
    EXPECT_BLAS(cublasSasum(handle, 4, x.at, 1, &result));
    EXPECT(result == 13);
    EXPECT_BLAS(cublasIsamax(handle, 4, x.at, 1, &index));
    EXPECT(index == 2);
    EXPECT_BLAS(cublasIsamin(handle, 4, x.at, 1, &index));
    EXPECT(index == 1);
    EXPECT_BLAS(cublasSaxpy(handle, 4, &alpha, x.at, 1, y.at, 1));
    EXPECT((y.host() == std::vector<float>{4, -8, 8, 10}));
    EXPECT_BLAS(cublasSscal(handle, 2, &alpha, y.at, 2));
    EXPECT((y.host() == std::vector<float>{8, -8, 16, 10}));
    // a is 2 x 4: columns (1, 2), (3, 4), (5, 6), (7, 8).
    EXPECT_BLAS(cublasSgemv(handle, CUBLAS_OP_N, 2, 4, &alpha, a.at, 2, x.at, 1, &beta, y.at, 1));
    EXPECT((y.host() == std::vector<float>{8 + 2 * 29, -8 + 2 * 32, 16, 10}));
    EXPECT_BLAS(cublasSger(handle, 2, 1, &alpha, x.at, 1, x.at, 1, a.at, 2));
    EXPECT(a.host()[0] == 3 && a.host()[1] == -8 && a.host()[2] == 3);

    // alpha and the result on the device.
    EXPECT_BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    device_array<float> scalar({3, 0});
    EXPECT_BLAS(cublasSscal(handle, 4, scalar.at, x.at, 1));
    EXPECT_BLAS(cublasSasum(handle, 4, x.at, 1, scalar.at + 1));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(scalar.host()[1] == 39);
    EXPECT_BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));

    const float from[6] = {1, 2, 3, 4, 5, 6};
    float to[6] = {};
    EXPECT_BLAS(cublasSetVector(2, sizeof(float), from, 3, x.at, 2));
    EXPECT_BLAS(cublasGetVector(2, sizeof(float), x.at, 2, to, 1));
    EXPECT(to[0] == 1 && to[1] == 4);
    EXPECT_BLAS(cublasSetMatrix(2, 2, sizeof(float), from, 3, x.at, 2));
    EXPECT((x.host() == std::vector<float>{1, 2, 4, 5}));
}

static void with_epilogue() {
    const int m = 8, n = 4, k = 16;
    const auto a = numbers<float>(k * m, 1), b = numbers<float>(k * n, 2), bias = numbers<float>(m, 3);
    device_array<float> da(a), db(b), dbias(bias), dd(std::vector<float>(m * n, 0)),
        workspace(std::vector<float>(1 << 20));
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t layout_a, layout_b, layout_d;
    cublasLtMatmulPreference_t preference;
    EXPECT_BLAS(cublasLtCreate(&handle));
    EXPECT_BLAS(cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t turned = CUBLAS_OP_T;
    const cublasLtEpilogue_t after = CUBLASLT_EPILOGUE_RELU_BIAS;
    EXPECT_BLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned));
    EXPECT_BLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &after, sizeof after));
    EXPECT_BLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias.at, sizeof dbias.at));
    EXPECT_BLAS(cublasLtMatrixLayoutCreate(&layout_a, CUDA_R_32F, k, m, k));
    EXPECT_BLAS(cublasLtMatrixLayoutCreate(&layout_b, CUDA_R_32F, k, n, k));
    EXPECT_BLAS(cublasLtMatrixLayoutCreate(&layout_d, CUDA_R_32F, m, n, m));
    EXPECT_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t workspace_bytes = workspace.count * sizeof(float);
    EXPECT_BLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &workspace_bytes, sizeof workspace_bytes));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    EXPECT_BLAS(cublasLtMatmulAlgoGetHeuristic(handle, what, layout_a, layout_b, layout_d, layout_d, preference, 1,
                                               &found, &count));
    EXPECT(count == 1);
    const float one = 1, none = 0;
    EXPECT_BLAS(cublasLtMatmul(handle, what, &one, da.at, layout_a, db.at, layout_b, &none, dd.at, layout_d, dd.at,
                               layout_d, &found.algo, workspace.at, workspace_bytes, nullptr));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    const auto got = dd.host();
    bool all = true;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
            float sum = bias[i];
            for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
            all = all && got[j * m + i] == (sum > 0 ? sum : 0);
        }
    }
    EXPECT(all);
    EXPECT_BLAS(cublasLtMatmulPreferenceDestroy(preference));
    EXPECT_BLAS(cublasLtMatrixLayoutDestroy(layout_a));
    EXPECT_BLAS(cublasLtMatrixLayoutDestroy(layout_b));
    EXPECT_BLAS(cublasLtMatrixLayoutDestroy(layout_d));
    EXPECT_BLAS(cublasLtMatmulDescDestroy(what));
    EXPECT_BLAS(cublasLtDestroy(handle));
}

static void refused(cublasHandle_t handle) {
    device_array<float> x(std::vector<float>(64, 1));
    const float one = 1;
    const auto gemm = [&](cublasHandle_t with, int m, int n, int k, int lda) {
        return cublasSgemm(with, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, x.at, lda, x.at, 8, &one, x.at, 8);
    };
    EXPECT(gemm(nullptr, 2, 2, 2, 8) == CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(gemm(handle, -1, 2, 2, 8) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(gemm(handle, 2, 2, -2, 8) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(gemm(handle, 4, 2, 2, 3) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(gemm(handle, 0, 2, 2, 8) == CUBLAS_STATUS_SUCCESS);
}

int main() {
    cublasHandle_t handle;
    EXPECT_BLAS(cublasCreate(&handle));
    products(handle);
    batches(handle);
    vectors(handle);
    with_epilogue();
    refused(handle);
    cudaStream_t stream, set;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    EXPECT_BLAS(cublasSetStream(handle, stream));
    EXPECT_BLAS(cublasGetStream(handle, &set));
    EXPECT(set == stream);
    EXPECT_BLAS(cublasDestroy(handle));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
    return finish();
}
