// Finds a tuning's kernel.
#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

run_work kernel_of(const transposes::tuning& t) {
    const int row = transposes::row_of(t);
    switch (t.by) {
        case kernel_family::direct: return direct_kernel(row);
        case kernel_family::vector:
        case kernel_family::vector_apart:
        case kernel_family::vector_stacked: return vector_kernel(row);
        case kernel_family::ragged: return t.unit < 4 ? ragged_bytes_kernel(row) : ragged_kernel(row);
        case kernel_family::tall: return tall_kernel(row);
        case kernel_family::wide: return wide_kernel(row);
        case kernel_family::small: return small_kernel(row);
        case kernel_family::units: return units_kernel(row);
        case kernel_family::blocks: return blocks_kernel(row);
        case kernel_family::vector_in_place: return vector_in_place_kernel(row);
        case kernel_family::units_in_place: return units_in_place_kernel(row);
        case kernel_family::blocks_in_place: return blocks_in_place_kernel(row);
        case kernel_family::strided:
        case kernel_family::nothing: break;
    }
    return nullptr;  // these paths have no rows
}

}  // namespace

}  // namespace CORNERTURN_KERNELS

namespace cornerturn::transposes {

#if defined(CORNERTURN_EMULATED)
void run_emulated(const tuning& tuned, const matrix_work& work, const gpu& on) {
    if (tuned.by == kernel_family::nothing) return;
    if (tuned.by == kernel_family::strided) return run_strided(work, on, &strided::run_emulated);
    dialect::kernel_of(tuned)(work, on);
}
#else
void run_on_gpu(const tuning& tuned, const matrix_work& work, const gpu& on) {
    if (tuned.by == kernel_family::nothing) return;
    if (tuned.by == kernel_family::strided) return run_strided(work, on, &strided::run_on_gpu);
    dialect::kernel_of(tuned)(work, on);
}
#endif

}  // namespace cornerturn::transposes
