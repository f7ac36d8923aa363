// Products that are right for small integers, packed operands, alpha 1 and beta 0. tests/planted_test.py sees each
// caught from the command line.
#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kSide = 16;

enum class fault { bfloat_inputs, three_bits, rounded_sum, no_factors, packed_operands };

// Without the lowest bits of its mantissa.
template <int kBits>
__device__ __forceinline__ float cut(float value) {
    union {
        float number;
        unsigned bits;
    } both;
    both.number = value;
    both.bits = both.bits >> kBits << kBits;
    return both.number;
}

template <fault kFault>
__device__ __forceinline__ float input(float value) {
    if constexpr (kFault == fault::bfloat_inputs) return cut<16>(value);
    if constexpr (kFault == fault::three_bits) return cut<20>(value);
    return value;
}

template <fault kFault>
__global__ void planted_product(gemm_work work) {
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kSide + threadIdx.y, col = at.col * kSide + threadIdx.x;
    if (row >= work.m || col >= work.n) return;
    const bool packed = kFault == fault::packed_operands;
    const std::int64_t lda = packed ? work.k : work.lda, ldb = packed ? work.n : work.ldb;
    float sum = 0;
    for (std::int64_t i = 0; i < work.k; ++i)
        sum += input<kFault>(work.a[row * lda + i]) * input<kFault>(work.b[i * ldb + col]);
    if (kFault == fault::rounded_sum) sum = cut<11>(sum);
    if (kFault == fault::no_factors)
        work.c[row * work.ldc + col] = sum;
    else
        store_product(work, row, col, sum);
}

template <fault kFault>
void run(const gemm_work& work) {
    launch_gemm(planted_product<kFault>, work, {kSide, kSide}, dim3(kSide, kSide));
}

constexpr rung_notes kPlanted{
    .id = "fault/product",
    .idea = "A product with one fault.",
    .change = "One line.",
    .contract = "Right where nothing is out of the ordinary.",
    .bytes = "4 * (2 * m * n * k + m * n)",
    .limit = "-",
    .source = "-",
};

}  // namespace

CORNERTURN_RUNG(kPlanted, gemm_operation(), multiplying("bfloat_inputs", "-", &run<fault::bfloat_inputs>),
                multiplying("three_bits", "-", &run<fault::three_bits>),
                multiplying("rounded_sum", "-", &run<fault::rounded_sum>),
                multiplying("no_factors", "-", &run<fault::no_factors>),
                multiplying("packed_operands", "-", &run<fault::packed_operands>))

}  // namespace CORNERTURN_KERNELS
