/* Uses the C API of an installed cornerturn: invalid arguments on any machine; transposes and products on a GPU;
 * without a GPU, the error codes. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/gemm.h"

#define REQUIRE(holds)                                                                                           \
    do {                                                                                                         \
        if (!(holds)) {                                                                                          \
            fprintf(stderr, "FAILED: line %d: %s; last error: %s\n", __LINE__, #holds, cornerturn_last_error()); \
            exit(1);                                                                                             \
        }                                                                                                        \
    } while (0)

enum { kRows = 3, kCols = 5, kLd = 7, kCount = 2, kStride = kRows * kLd };

/* Whether the last error names these values, in this order. */
static int names(const char* first, const char* second, const char* third) {
    const char* at = strstr(cornerturn_last_error(), first);
    if (at != NULL) at = strstr(at + strlen(first), second);
    return at != NULL && strstr(at + strlen(second), third) != NULL;
}

static void check_errors(void) {
    float data[12] = {0};
    char version[40];
    double* const askew = (double*)((char*)data + 4);
    cornerturn_cuda_plan* plan = (cornerturn_cuda_plan*)data;

    REQUIRE(strcmp(cornerturn_last_error(), "") == 0);
    REQUIRE(cornerturn_cuda_transpose(data, 3, 4, 2, data, 3, 4, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("source.ld", "2", "4"));
    REQUIRE(cornerturn_cuda_transpose(data, -3, 4, 4, data, 3, 4, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("source.rows", "-3", ""));
    REQUIRE(cornerturn_cuda_transpose(data, 3, 4, 4, data, 3, 0, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_cuda_transpose(data, 3, 4, 4, data, 3, INT64_MIN, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_cuda_transpose_in_place(data, 3, 2, 4, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_cuda_transpose(askew, 1, 1, 1, data, 1, 8, NULL) != CORNERTURN_OK);

    REQUIRE(cornerturn_cuda_plan_create(&plan, 3, 4, 2, 3, 4) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(plan == NULL);
    REQUIRE(cornerturn_cuda_plan_create(NULL, 3, 4, 4, 3, 4) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_cuda_plan_execute(NULL, data, data, NULL) == CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("plan", "", ""));
    cornerturn_cuda_plan_destroy(NULL);
    REQUIRE(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_ORDINARY) == CORNERTURN_OK);
    REQUIRE(cornerturn_cuda_set_l2_lines(CORNERTURN_L2_KEPT) == CORNERTURN_OK);

    REQUIRE(cornerturn_cuda_gemm(2, 0, 1, 1, 1, 1, data, 1, data, 1, 0, data, 1, NULL, 0, NULL) ==
            CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("a_transposed", "2", ""));
    REQUIRE(cornerturn_cuda_gemm(0, 0, 1, -5, 1, 1, data, 1, data, 1, 0, data, 1, NULL, 0, NULL) ==
            CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("n", "-5", ""));
    REQUIRE(cornerturn_cuda_gemm(1, 0, 4, 1, 3, 1, data, 3, data, 1, 0, data, 1, NULL, 0, NULL) ==
            CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(names("a.ld", "3", "4"));
    REQUIRE(cornerturn_cuda_gemm(0, 0, 0, 4, 3, 1, NULL, 3, NULL, 4, 0, NULL, 4, NULL, 0, NULL) == CORNERTURN_OK);
    REQUIRE(cornerturn_cuda_gemm_workspace_bytes(NULL, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1) ==
            CORNERTURN_INVALID_ARGUMENT);
    REQUIRE(cornerturn_cuda_kept_workspace_bytes(NULL) == CORNERTURN_INVALID_ARGUMENT);

    REQUIRE(strcmp(cornerturn_status_name(CORNERTURN_OK), "ok") == 0);
    REQUIRE(strcmp(cornerturn_status_name(CORNERTURN_CUDA_ERROR), "cuda_error") == 0);
    REQUIRE(strcmp(cornerturn_status_name((cornerturn_status)99), "unknown") == 0);
    REQUIRE(cornerturn_version_number() == CORNERTURN_VERSION_NUMBER);
    sprintf(version, "%d.%d.%d", CORNERTURN_VERSION_MAJOR, CORNERTURN_VERSION_MINOR, CORNERTURN_VERSION_PATCH);
    REQUIRE(strcmp(cornerturn_version_string(), version) == 0);
}

static void check_no_gpu(void) {
    float data[12] = {0};
    cornerturn_cuda_plan* plan = NULL;
    REQUIRE(cornerturn_cuda_plan_create(&plan, 2, 3, 3, 2, 4) == CORNERTURN_CUDA_ERROR);
    REQUIRE(plan == NULL);
    REQUIRE(cornerturn_cuda_transpose(data, 2, 3, 3, data + 6, 2, 4, NULL) == CORNERTURN_CUDA_ERROR);
    REQUIRE(strncmp(cornerturn_last_error(), "cudaError", 9) == 0);
    REQUIRE(cornerturn_cuda_gemm(0, 0, 1, 1, 1, 1, data, 1, data + 1, 1, 0, data + 2, 1, NULL, 0, NULL) ==
            CORNERTURN_CUDA_ERROR);
}

static int value(int matrix, int row, int col) { return 10000 * matrix + 100 * row + col; }

/* The first `count` matrices are transposed; the rest is unchanged. */
static void require_transposed(const int* destination, int count) {
    static int out[kCount * kStride];
    int i, row, col;
    REQUIRE(cudaMemcpy(out, destination, sizeof out, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (i = 0; i < kCount; ++i) {
        for (row = 0; row < kRows; ++row) {
            for (col = 0; col < kCols; ++col) {
                REQUIRE(out[i * kStride + col * kRows + row] == (i < count ? value(i, row, col) : -1));
            }
        }
    }
    REQUIRE(cudaMemset((void*)destination, 0xff, sizeof out) == cudaSuccess);
}

static void check_transposes(void) {
    static int in[kCount * kStride];
    int *source, *destination, i, row, col;
    cornerturn_cuda_plan* plan = NULL;
    for (i = 0; i < kCount; ++i) {
        for (row = 0; row < kRows; ++row) {
            for (col = 0; col < kCols; ++col) in[i * kStride + row * kLd + col] = value(i, row, col);
        }
    }
    REQUIRE(cudaMalloc((void**)&source, sizeof in + 2) == cudaSuccess);
    REQUIRE(cudaMalloc((void**)&destination, sizeof in) == cudaSuccess);
    REQUIRE(cudaMemcpy(source, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaMemset(destination, 0xff, sizeof in) == cudaSuccess);

    REQUIRE(cornerturn_cuda_transpose(source, kRows, kCols, kLd, destination, kRows, 4, NULL) == CORNERTURN_OK);
    require_transposed(destination, 1);
    REQUIRE(cornerturn_cuda_transpose_batch(source, kRows, kCols, kLd, kStride, destination, kRows, kStride, kCount, 4,
                                            NULL) == CORNERTURN_OK);
    require_transposed(destination, kCount);
    REQUIRE(cornerturn_cuda_plan_create(&plan, kRows, kCols, kLd, kRows, 4) == CORNERTURN_OK);
    REQUIRE(cornerturn_cuda_plan_execute(plan, source, destination, NULL) == CORNERTURN_OK);
    cornerturn_cuda_plan_destroy(plan);
    require_transposed(destination, 1);
    REQUIRE(cornerturn_cuda_plan_create_batch(&plan, kRows, kCols, kLd, kStride, kRows, kStride, kCount, 4) ==
            CORNERTURN_OK);
    REQUIRE(cornerturn_cuda_plan_execute(plan, source, destination, NULL) == CORNERTURN_OK);
    require_transposed(destination, kCount);
    /* From an unaligned address. */
    REQUIRE(cudaMemcpy((char*)source + 2, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cornerturn_cuda_plan_execute(plan, (char*)source + 2, destination, NULL) == CORNERTURN_OK);
    require_transposed(destination, kCount);
    cornerturn_cuda_plan_destroy(plan);

    REQUIRE(cudaMemcpy(source, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cornerturn_cuda_transpose_in_place(source, kRows, kLd, 4, NULL) == CORNERTURN_OK);
    REQUIRE(cudaMemcpy(in, source, sizeof in, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (row = 0; row < kRows; ++row) {
        for (col = 0; col < kRows; ++col) REQUIRE(in[row * kLd + col] == value(0, col, row));
    }
    cudaFree(source);
    cudaFree(destination);
}

/* C = 2 op(A) op(B) - C for a batch that shares B: A and B transposed or not, with the caller's workspace or the
 * library's. Sums of small integers are exact. */
static void check_products(void) {
    enum { m = 37, n = 53, k = 129, count = 3, lda = k + m, ldb = n + k, ldc = n + 1, most = count * (k + m) * lda };
    static float in[most], out[most];
    float *a, *b, *c;
    void* workspace;
    int64_t bytes = -1, kept = -1;
    int variant, i, row, col, step;
    REQUIRE(cudaMalloc((void**)&a, sizeof in) == cudaSuccess);
    REQUIRE(cudaMalloc((void**)&b, sizeof in) == cudaSuccess);
    REQUIRE(cudaMalloc((void**)&c, sizeof in) == cudaSuccess);
    for (i = 0; i < most; ++i) in[i] = (float)(i * 7 % 11 - 5);
    REQUIRE(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaMemcpy(b, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
    for (variant = 0; variant < 8; ++variant) {
        const int of_a = variant & 1, of_b = variant >> 1 & 1;
        const int64_t a_stride = (of_a ? k : m) * lda, c_stride = m * ldc;
        REQUIRE(cornerturn_cuda_gemm_workspace_bytes(&bytes, of_a, of_b, m, n, k, lda, a_stride, ldb, 0, ldc, c_stride,
                                                     count) == CORNERTURN_OK);
        REQUIRE(bytes >= 0);
        REQUIRE(cudaMalloc(&workspace, (size_t)bytes + 16) == cudaSuccess);
        REQUIRE(cudaMemcpy(c, in, sizeof in, cudaMemcpyHostToDevice) == cudaSuccess);
        REQUIRE(cornerturn_cuda_gemm_batch(of_a, of_b, m, n, k, 2, a, lda, a_stride, b, ldb, 0, -1, c, ldc, c_stride,
                                           count, variant & 4 ? workspace : NULL, variant & 4 ? bytes : 0,
                                           NULL) == CORNERTURN_OK);
        REQUIRE(cudaMemcpy(out, c, sizeof in, cudaMemcpyDeviceToHost) == cudaSuccess);
        for (i = 0; i < count; ++i) {
            for (row = 0; row < m; ++row) {
                for (col = 0; col < n; ++col) {
                    const int64_t at = i * c_stride + row * ldc + col;
                    float sum = 0;
                    for (step = 0; step < k; ++step) {
                        sum += in[i * a_stride + (of_a ? step * lda + row : row * lda + step)] *
                               in[of_b ? col * ldb + step : step * ldb + col];
                    }
                    REQUIRE(out[at] == 2 * sum - in[at]);
                }
                REQUIRE(out[i * c_stride + row * ldc + n] == in[i * c_stride + row * ldc + n]);
            }
        }
        cudaFree(workspace);
    }
    REQUIRE(cornerturn_cuda_gemm(0, 0, m, n, k, 1, a, lda, b, ldb, 0, c, ldc, NULL, 0, NULL) == CORNERTURN_OK);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(cornerturn_cuda_give_back_workspace() == CORNERTURN_OK);
    REQUIRE(cornerturn_cuda_kept_workspace_bytes(&kept) == CORNERTURN_OK && kept == 0);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

int main(void) {
    int devices = 0;
    check_errors();
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        check_transposes();
        check_products();
        puts("transposed and multiplied");
    } else {
        check_no_gpu();
        printf("no GPU: %s\n", cornerturn_last_error());
    }
    return 0;
}
