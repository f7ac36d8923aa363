// Idea, contract and so on: the notes below. Here the lab meets the library's kernels; they lie in the files beside.
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/transpose_rung.hpp"

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

// The emulator stands for the GPU that the kernels are tuned for.
constexpr int kTunedFor = 90;

void run_production(const matrix_work& work) {
    const production::tuning use = production::choose(work, kTunedFor);
#if defined(CORNERTURN_EMULATED)
    production::run_emulated(use, work);
#else
    production::run_on_gpu(use, work);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, transpose_operation(),
                variant<matrix_work>{{"", "-", kAnyElementSize},
                                     &run_production,
                                     {.batches = true, .in_place = true, .explain = &production::explain}})

}  // namespace CORNERTURN_KERNELS
