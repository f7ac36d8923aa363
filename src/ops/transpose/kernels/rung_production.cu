// Idea, contract and so on: the notes below. Here the lab meets the library's kernels; they lie in the files beside.
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/transpose_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "transpose/production",
    .idea = "what cornerturn::cuda::transpose runs: the kernel that fits the matrix, tuned for Hopper",
    .change =
        "chooses by element, shape and alignment; loads keep their lines in the L2 so that written ones leave it soon",
    .contract = "any rows, columns, leading dimensions, alignment, element size and batch; in place where square",
    .bytes = "rows x cols x e read and written once",
    .limit = "DRAM: near memcpy's rate, or above it",
    .source = "docs/experiments.md",
};

void run_production(const matrix_work& work) {
#if defined(CORNERTURN_EMULATED)
    const gpu on;  // the one that kernels are tuned for
    production::run_emulated(production::choose(work, on), work, on);
#else
    const gpu on = device::gpu_of(device::launch_device());
    production::run_on_gpu(production::choose(work, on), work, on);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, transpose_operation(),
                variant<matrix_work>{{"", "-", kAnyElementSize},
                                     &run_production,
                                     {.batches = true, .in_place = true, .explain = &production::explain_for}})

}  // namespace CORNERTURN_KERNELS
