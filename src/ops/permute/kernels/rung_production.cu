// The library's kernels, as the lab sees them. They are in ops/copy/kernels, and those for matrices in
// ops/transpose/kernels.
#include "ops/permute/engine.hpp"
#include "ops/permute/permute_rung.hpp"
#include "ops/transpose/kernels/dispatch.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "permute/production",
    .idea =
        "What cornerturn::cuda::permute runs: a transpose if the permutation is one, else rows, units or tiles, "
        "whichever it predicts to be fastest.",
    .change =
        "From vectors: spans of the source are read, and lines are written, in vectors of 16 bytes at any alignment. A "
        "table says where in a span each unit of a line is.",
    .contract = "Any extents, strides, alignment and element size. The destination's elements must not overlap.",
    .bytes = "2 * elements * e",
    .limit = "DRAM. Where lines or spans are short, sectors are moved in part.",
    .source = "docs/experiments/copies.md.",
};

void run_production(const strided_work& work) {
    decline_what_takes_long(work);
#if defined(CORNERTURN_EMULATED)
    run_library(work, gpu{}, transposes::run_emulated,
                strided::run_emulated);  // the GPU for which the kernels were tuned
#else
    run_library(work, device::gpu_of(device::current_device()), transposes::run_on_gpu, strided::run_on_gpu);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_production})

}  // namespace CORNERTURN_KERNELS
