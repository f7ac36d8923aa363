// Calls a plan's kernel.
#include "ops/copy/kernels/kernels.hpp"
#include "ops/copy/kernels/policy.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_check.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

using strided::kernel_family;

#if defined(CORNERTURN_EMULATED)
constexpr bool keeps_lines() { return true; }
#else
using device::keeps_lines;
#endif

void run_plan(const strided::plan& p) {
    if (p.by == kernel_family::nothing) return;
    launch_shape shape{dim3(p.blocks), dim3(static_cast<unsigned>(p.threads)),
                       static_cast<std::size_t>(p.shared_bytes)};
    shape.early = true;
    if (p.by == kernel_family::rows) return run_rows(p.rows, p.unit, p.relative_alignment, keeps_lines(), shape);
    if (p.by == kernel_family::units) return run_units(p.pieces, p.unit, p.units, p.each, shape);
    if (p.groups) return run_groups(p.tiles, p.unit, p.shifted, p.aligned, shape);
    run_tiles(p.tiles, p.unit, p.gaps, shape);
}

}  // namespace
}  // namespace CORNERTURN_KERNELS

namespace cornerturn::strided {

#if defined(CORNERTURN_EMULATED)
void run_emulated(const plan& p) { dialect::run_plan(p); }
#else
void run_on_gpu(const plan& p) { dialect::run_plan(p); }
#endif

}  // namespace cornerturn::strided
