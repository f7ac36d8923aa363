// Finds the kernel that a tuning names.
#include "transpose/production/dispatch.hpp"
#include "transpose/production/kernels.hpp"

namespace CORNERTURN_KERNELS {

bool run_tuned(const production::tuning& tuned, const matrix_work& work) {
    if (tuned.by == path::nothing) return true;
    for (production_kernels (*kernels_of_file)() : {vector_kernels, ragged_kernels, ragged_bytes_kernels, few_kernels,
                                                    narrow_kernels, unit_kernels, in_place_kernels}) {
        const production_kernels file = kernels_of_file();
        for (int i = 0; i < file.count; ++i) {
            if (file.all[i].tuned == tuned) {
                file.all[i].run(work);
                return true;
            }
        }
    }
    return false;
}

}  // namespace CORNERTURN_KERNELS

#if !defined(CORNERTURN_EMULATED)
namespace cornerturn::production {

bool run_on_gpu(const tuning& tuned, const matrix_work& work) { return dialect::run_tuned(tuned, work); }

}  // namespace cornerturn::production
#endif
