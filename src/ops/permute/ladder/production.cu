// The library's kernels, as the lab sees them. They are in src/move/.
#include "ops/copy/production_rung.hpp"
#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "permute/production",
    .idea =
        "What cornerturn::cuda::permute runs: rows, units, tiles or a kernel for matrices, whichever it predicts to be "
        "fastest.",
    .change =
        "From vectors: spans of the source are read, and lines are written, in vectors of 16 bytes at any alignment. A "
        "table says where in a span each unit of a line is.",
    .contract = "Any extents, strides, alignment and element size. The destination's elements must not overlap.",
    .bytes = "2 * elements * e",
    .limit = "DRAM. Where lines or spans are short, sectors are moved in part.",
    .source = "docs/experiments/copies.md.",
};

}  // namespace

CORNERTURN_RUNG(kNotes, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_production})

}  // namespace CORNERTURN_KERNELS
