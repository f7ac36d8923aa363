#include "ops/gemm/gemm_work.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <limits>

#include "baseline/cublas.hpp"
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kSgemm{
    .id = "gemm/cublas",
    .idea = "cuBLAS's sgemm in FP32 (pedantic: no tensor cores). The rungs are measured against it.",
    .change = "The yardstick, not a rung.",
    .contract = "Sizes, leading dimensions and batches below 2^31. cuBLAS is loaded at the first call.",
    .bytes = "unknown: cuBLAS decides",
    .limit = "cuBLAS's kernels.",
    .source = "NVIDIA cuBLAS, cublasSgemm; note 002.",
};

#if defined(CORNERTURN_WITH_CUDA)

using baseline::cublas;
using baseline::cublas_handle;
using baseline::cublas_status;

using sgemm_function = cublas_status (*)(cublas_handle, int op_a, int op_b, int m, int n, int k, const float* alpha,
                                         const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                                         int ldc);
using batch_function = cublas_status (*)(cublas_handle, int op_a, int op_b, int m, int n, int k, const float* alpha,
                                         const float* a, int lda, long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc, long long stride_c,
                                         int count);

void multiply(const gemm_work& w) {
    for (std::int64_t size : {w.m, w.n, w.k, w.lda, w.ldb, w.ldc, w.count}) {
        if (size > std::numeric_limits<int>::max())
            throw unsupported("cublasSgemm takes at most 2147483647 rows and columns");
    }
    if (w.m == 0 || w.n == 0 || w.count == 0) return;
    const cublas& library = cublas::instance();
    // cuBLAS is column-major. It sees the transposes of row-major matrices, so C's transpose is B's times A's. cuBLAS
    // wants leading dimensions of at least 1.
    const auto number = [](std::int64_t size) { return static_cast<int>(size); };
    const auto ld = [](std::int64_t size) { return static_cast<int>(size > 0 ? size : 1); };
    const auto op = [](bool transposed) { return transposed ? baseline::kTransposed : baseline::kNotTransposed; };
    if (w.count == 1) {
        static const auto sgemm = library.find<sgemm_function>("cublasSgemm_v2");
        cublas::check(
            sgemm(library.on_current_stream(), op(w.b_transposed), op(w.a_transposed), number(w.n), number(w.m),
                  number(w.k), &w.alpha, w.b, ld(w.ldb), w.a, ld(w.lda), &w.beta, w.c, ld(w.ldc)),
            "cublasSgemm");
    } else {
        static const auto sgemm = library.find<batch_function>("cublasSgemmStridedBatched");
        cublas::check(sgemm(library.on_current_stream(), op(w.b_transposed), op(w.a_transposed), number(w.n),
                            number(w.m), number(w.k), &w.alpha, w.b, ld(w.ldb), w.b_stride, w.a, ld(w.lda), w.a_stride,
                            &w.beta, w.c, ld(w.ldc), w.c_stride, number(w.count)),
                      "cublasSgemmStridedBatched");
    }
}

#else
constexpr void (*multiply)(const gemm_work&) = nullptr;
#endif

constexpr variant<gemm_work> kVariants[] = {
    {{.name = "", .origin = "002 cublasSgemm", .element_sizes = sizeof(float), .published_rate = 2301.9},
     multiply,
     {.any_layout = true}}};
const bool kRegistered = register_rung(kSgemm, gemm_operation(), backend::cuda, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
