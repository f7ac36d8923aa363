// The library's kernels, as the lab sees them. They are in the files beside this one.
#include "device/rung.hpp"
#include "ops/gemm/kernels/product.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "cornerturn/cuda/gemm.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "gemm/production",
    .idea = "What cornerturn::cuda::gemm runs: tiles in registers, which asynchronous copies feed some stages ahead.",
    .change =
        "The library predicts the time of each kernel and takes the fastest. It has tiles of six sizes, some with "
        "slices of k; for few columns it can read A just once. It can transpose or copy operands first, and split "
        "tiles along k. At 4096 on an H200, 0.96 -> 1.02 of cublasSgemm's speed.",
    .contract =
        "Any m, n, k, leading dimensions, alignment, alpha, beta, transposes of A and B, batches. Each run gives the "
        "same bits.",
    .bytes = "4 * (m * n * k / 64 + m * n + 2 * m * k) for tiles of 128 x 128",
    .limit = "The rate at which multiply-adds are issued: nine in ten instructions are multiply-adds.",
    .source = "docs/experiments/products.md.",
};

gpu this_gpu() {
#if defined(CORNERTURN_EMULATED)
    return kH200;  // the emulator stands for the GPU for which the kernels were tuned
#else
    return device::gpu_of(device::current_device());
#endif
}

void run_production(const gemm_work& given) {
    const gemm_work work = products::as_computed(given);
    constexpr double kMost = 1.5e10;
    if (kEmulated && static_cast<double>(work.m) * static_cast<double>(work.n) * static_cast<double>(work.k) > kMost)
        decline("takes the emulator long, which runs every block of it: m * n * k can be 15e9");
    const gpu on = this_gpu();
    if (!multiply(products::prepare(work, on, true), work.workspace, on))
        decline("has no kernel for operands of this layout");
}

std::int64_t workspace(const gemm_work& work) {
    return products::most_workspace(products::as_computed(work), this_gpu());
}

std::string explain(const gemm_work& work, int compute_capability, int multiprocessors) {
    gpu on = gpu_of_capability(compute_capability);
    on.multiprocessors = multiprocessors;
    return products::explain(products::as_computed(work), on, true);
}

#if !defined(CORNERTURN_EMULATED)
// The library's call as its users write it. Its workspace comes from the library's pool.
void call_plainly(const gemm_work& w) {
    const auto operand = [&](auto* data, bool transposed, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                             std::int64_t stride) {
        return batch_view{matrix_view{data, transposed ? cols : rows, transposed ? rows : cols, ld}, w.count, stride};
    };
    const auto as = [](bool transposed) { return transposed ? cuda::op::transposed : cuda::op::none; };
    cuda::gemm(w.alpha, operand(w.a, w.a_transposed, w.m, w.k, w.lda, w.a_stride),
               operand(w.b, w.b_transposed, w.k, w.n, w.ldb, w.b_stride), w.beta,
               operand(w.c, false, w.m, w.n, w.ldc, w.c_stride), device::current_stream(),
               {.a = as(w.a_transposed), .b = as(w.b_transposed)});
}
constexpr void (*kCallPlainly)(const gemm_work&) = &call_plainly;
#else
constexpr void (*kCallPlainly)(const gemm_work&) = nullptr;
#endif

}  // namespace

CORNERTURN_RUNG(kNotes, gemm_operation(),
                variant<gemm_work>{{.name = "", .origin = "-", .element_sizes = sizeof(float), .whole_only = true},
                                   &run_production,
                                   {&workspace, &explain, true}},
                variant<gemm_work>{{.name = "plain", .origin = "-", .element_sizes = sizeof(float), .is_rung = false},
                                   kCallPlainly,
                                   {nullptr, nullptr, true}})

}  // namespace CORNERTURN_KERNELS
