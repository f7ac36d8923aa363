// Idea, contract and so on: the notes below. Here the lab meets the library's kernels: they lie in ops/copy/kernels.
#include "ops/permute/engine.hpp"
#include "ops/permute/permute_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "permute/production",
    .idea = "what cornerturn::cuda::permute runs: rows or tiles, whichever is predicted to cost least",
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
    for_each_plan(work, gpu{}, &strided::run_emulated);  // the GPU that the kernels are tuned for
#else
    for_each_plan(work, device::gpu_of(device::current_device()), &strided::run_on_gpu);
#endif
}

}  // namespace

CORNERTURN_RUNG(kNotes, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_production})

}  // namespace CORNERTURN_KERNELS
