// Products that read what holds nothing. tests/misbehaving_test.cpp sees them caught.
#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kSide = 16;

// One thread an element of C. It reads C, whatever beta is; or the workspace, which nobody wrote.
template <bool kReadsC>
__global__ void misbehaving_product(gemm_work work) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kSide + threadIdx.y, col = at.col * kSide + threadIdx.x;
    if (row >= work.m || col >= work.n) return;
    float sum = 0;
    for (std::int64_t i = 0; i < work.k; ++i) sum += work.a[row * work.lda + i] * work.b[i * work.ldb + col];
    float* const to = work.c + row * work.ldc + col;
    const float before = kReadsC ? *to : work.workspace[row];
    *to = work.alpha * sum + (work.beta == 0 ? 0 * before : work.beta * *to);
}

template <bool kReadsC>
void run_misbehaving(const gemm_work& work) {
    launch_gemm(misbehaving_product<kReadsC>, work, {kSide, kSide}, dim3(kSide, kSide));
}

constexpr rung_notes kMisbehavingProduct{
    .id = "fault/misbehaving_product",
    .idea = "A naive product that reads what it need not.",
    .change = "One line.",
    .contract = "None.",
    .bytes = "-",
    .limit = "-",
    .source = "-",
};

}  // namespace

CORNERTURN_RUNG(kMisbehavingProduct, gemm_operation(), multiplying("reads_c", "-", &run_misbehaving<true>),
                multiplying("reads_workspace", "-", &run_misbehaving<false>,
                            [](const gemm_work& work) { return work.m; }))

}  // namespace CORNERTURN_KERNELS
