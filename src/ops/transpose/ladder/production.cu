// The library's kernels, as the lab sees them. They are in src/move/.
#include "move/policy.hpp"
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
    moves::run_emulated(canonical(work), gpu{});  // the GPU for which the kernels were tuned
#else
    moves::run_on_gpu(canonical(work), device::gpu_of(device::launch_device()));
#endif
}

std::string explain_production(const matrix_work& work, int capability) {
    return moves::explain(canonical(work), gpu_of_capability(capability));
}

}  // namespace

CORNERTURN_RUNG(kNotes, transpose_operation(),
                variant<matrix_work>{{"", "-", kAnyElementSize},
                                     &run_production,
                                     {.batches = true, .in_place = true, .explain = &explain_production}})

}  // namespace CORNERTURN_KERNELS
