// Idea, contract and so on: the notes below. Here the lab meets the library's kernels: they lie in ops/copy/kernels,
// and of matrices in ops/transpose/kernels.
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
        "what cornerturn::cuda::permute runs: a transpose where it is one, else rows, units or tiles, whichever is "
        "predicted to cost least",
    .change =
        "From vectors: spans of the source of any alignment are read in vectors of 16 bytes, and lines are written so; "
        "a table says where in a span each unit of a line lies.",
    .contract = "any extents, strides, alignment and element size; the destination's elements must not overlap",
    .bytes = "elements x e read and written once",
    .limit = "DRAM; short lines or spans, of which sectors are moved in part.",
    .source = "docs/experiments.md",
};

void run_production(const strided_work& work) {
    decline_what_takes_long(work);
#if defined(CORNERTURN_EMULATED)
    run_library(work, gpu{}, production::run_emulated, strided::run_emulated);  // the GPU that kernels are tuned for
#else
    run_library(work, device::gpu_of(device::current_device()), production::run_on_gpu, strided::run_on_gpu);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_production})

}  // namespace CORNERTURN_KERNELS
