// The library's kernels, as the lab sees them. They are in the files beside this one.
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/transpose_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "transpose/production",
    .idea = "What cornerturn::cuda::transpose runs: the kernel that fits the matrix, tuned for Hopper.",
    .change =
        "The library chooses by element size, shape and alignment. Loads keep their lines in the L2, so dirty lines "
        "leave it soon.",
    .contract =
        "Any rows, columns, leading dimensions, alignment, element size and batch. Square matrices in place too.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM: the rate is near memcpy's or above it.",
    .source = "docs/experiments/transpose.md.",
};

void run_production(const matrix_work& work) {
#if defined(CORNERTURN_EMULATED)
    const gpu on;  // the one that kernels are tuned for
    transposes::run_emulated(transposes::choose(work, on), work, on);
#else
    const gpu on = device::gpu_of(device::launch_device());
    transposes::run_on_gpu(transposes::choose(work, on), work, on);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, transpose_operation(),
                variant<matrix_work>{{"", "-", kAnyElementSize},
                                     &run_production,
                                     {.batches = true, .in_place = true, .explain = &transposes::explain_for}})

}  // namespace CORNERTURN_KERNELS
