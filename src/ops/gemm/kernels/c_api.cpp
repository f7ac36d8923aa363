// The C functions for products.
#include <string>
#include <utility>

#include "core/c_status.hpp"
#include "cornerturn/cuda/gemm.h"
#include "cornerturn/cuda/gemm.hpp"

namespace {

using cornerturn::batch_view;
using cornerturn::detail::status_of;

cornerturn::cuda::op op_of(int transposed, const char* name) {
    if (transposed != 0 && transposed != 1)
        throw cornerturn::invalid_argument(std::string(name) + " is " + std::to_string(transposed) +
                                           ": it must be 0 or 1");
    return transposed != 0 ? cornerturn::cuda::op::transposed : cornerturn::cuda::op::none;
}

struct product {
    batch_view<const float> a, b;
    batch_view<float> c;
    cornerturn::cuda::gemm_options options;

    product(int a_transposed, int b_transposed, std::int64_t m, std::int64_t n, std::int64_t k, const float* at_a,
            std::int64_t lda, std::int64_t a_stride, const float* at_b, std::int64_t ldb, std::int64_t b_stride,
            float* at_c, std::int64_t ldc, std::int64_t c_stride, std::int64_t count)
        : options{.a = op_of(a_transposed, "a_transposed"), .b = op_of(b_transposed, "b_transposed")} {
        for (const auto& [size, name] : {std::pair{m, "m"}, {n, "n"}, {k, "k"}, {count, "count"}}) {
            if (size < 0)
                throw cornerturn::invalid_argument(std::string(name) + " is " + std::to_string(size) +
                                                   ": it must not be negative");
        }
        a = {at_a, a_transposed ? k : m, a_transposed ? m : k, lda, count, a_stride};
        b = {at_b, b_transposed ? n : k, b_transposed ? k : n, ldb, count, b_stride};
        c = {at_c, m, n, ldc, count, c_stride};
    }
};

}  // namespace

cornerturn_status cornerturn_cuda_gemm_batch(int a_transposed, int b_transposed, int64_t m, int64_t n, int64_t k,
                                             float alpha, const float* a, int64_t lda, int64_t a_stride, const float* b,
                                             int64_t ldb, int64_t b_stride, float beta, float* c, int64_t ldc,
                                             int64_t c_stride, int64_t count, void* workspace, int64_t workspace_bytes,
                                             CUstream_st* stream) {
    return status_of([&] {
        product p(a_transposed, b_transposed, m, n, k, a, lda, a_stride, b, ldb, b_stride, c, ldc, c_stride, count);
        p.options.workspace = workspace;
        p.options.workspace_bytes = workspace_bytes;
        cornerturn::cuda::gemm(alpha, p.a, p.b, beta, p.c, stream, p.options);
    });
}

cornerturn_status cornerturn_cuda_gemm(int a_transposed, int b_transposed, int64_t m, int64_t n, int64_t k, float alpha,
                                       const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                                       int64_t ldc, void* workspace, int64_t workspace_bytes, CUstream_st* stream) {
    return cornerturn_cuda_gemm_batch(a_transposed, b_transposed, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0,
                                      1, workspace, workspace_bytes, stream);
}

cornerturn_status cornerturn_cuda_gemm_workspace_bytes(int64_t* bytes, int a_transposed, int b_transposed, int64_t m,
                                                       int64_t n, int64_t k, int64_t lda, int64_t a_stride, int64_t ldb,
                                                       int64_t b_stride, int64_t ldc, int64_t c_stride, int64_t count) {
    return status_of([&] {
        if (bytes == nullptr) throw cornerturn::invalid_argument("bytes is NULL");
        const product p(a_transposed, b_transposed, m, n, k, nullptr, lda, a_stride, nullptr, ldb, b_stride, nullptr,
                        ldc, c_stride, count);
        *bytes = cornerturn::cuda::gemm_workspace_bytes(p.a, p.b, p.c, p.options);
    });
}

cornerturn_status cornerturn_cuda_kept_workspace_bytes(int64_t* bytes) {
    return status_of([&] {
        if (bytes == nullptr) throw cornerturn::invalid_argument("bytes is NULL");
        *bytes = cornerturn::cuda::kept_workspace_bytes();
    });
}

cornerturn_status cornerturn_cuda_give_back_workspace() {
    return status_of([] { cornerturn::cuda::give_back_workspace(); });
}
