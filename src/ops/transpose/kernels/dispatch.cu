// Finds a tuning's kernel.
#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

run_work kernel_of(const production::tuning& t) {
    const int row = production::row_of(t);
    switch (t.by) {
        case path::direct: return direct_kernel(row);
        case path::vector:
        case path::vector_apart:
        case path::vector_stacked: return vector_kernel(row);
        case path::ragged: return t.unit < 4 ? ragged_bytes_kernel(row) : ragged_kernel(row);
        case path::tall: return tall_kernel(row);
        case path::wide: return wide_kernel(row);
        case path::small: return small_kernel(row);
        case path::units: return units_kernel(row);
        case path::blocks: return blocks_kernel(row);
        case path::vector_in_place: return vector_in_place_kernel(row);
        case path::units_in_place: return units_in_place_kernel(row);
        case path::blocks_in_place: return blocks_in_place_kernel(row);
        case path::strided:
        case path::nothing: break;
    }
    return nullptr;  // these paths have no rows
}

}  // namespace

}  // namespace CORNERTURN_KERNELS

namespace cornerturn::production {

#if defined(CORNERTURN_EMULATED)
void run_emulated(const tuning& tuned, const matrix_work& work, const gpu& on) {
    if (tuned.by == path::nothing) return;
    if (tuned.by == path::strided) return run_strided(work, on, &strided::run_emulated);
    dialect::kernel_of(tuned)(work, on);
}
#else
void run_on_gpu(const tuning& tuned, const matrix_work& work, const gpu& on) {
    if (tuned.by == path::nothing) return;
    if (tuned.by == path::strided) return run_strided(work, on, &strided::run_on_gpu);
    dialect::kernel_of(tuned)(work, on);
}
#endif

}  // namespace cornerturn::production
