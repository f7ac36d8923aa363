// The library's kernels, as the lab sees them. They are in src/move/.
#include "ops/convert/operation.hpp"
#include "ops/copy/production_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes = {
    .id = "convert/production",
    .idea =
        "What cornerturn::cuda::convert runs: rows, tiles, units or a kernel for matrices, whichever it predicts to be "
        "fastest.",
    .change =
        "From words: any alignment, any pair of types. Where both sides share their fastest axis, there are no tiles.",
    .contract = "Any extents, strides, alignment and types. The destination's elements must not overlap.",
    .bytes = "elements * (e of the source + e of the destination)",
    .limit = "DRAM. Where lines or spans are short, sectors are moved in part.",
    .source = "docs/experiments/copies.md.",
};

}  // namespace

CORNERTURN_RUNG(kNotes, convert_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_production})

}  // namespace CORNERTURN_KERNELS
