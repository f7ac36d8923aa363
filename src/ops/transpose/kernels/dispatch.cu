// Finds the kernel that a tuning names.
#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/dispatch.hpp"
#include "ops/transpose/kernels/kernels.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {

namespace {

// The files that have a path's kernels: elements narrower than a word, or more than a few rows, may have one of their
// own.
struct files_of_path {
    production_kernels (*first)();
    production_kernels (*second)() = nullptr;
};

files_of_path files_of(path p) {
    switch (p) {
        case path::direct: return {direct_kernels};
        case path::vector:
        case path::vector_apart:
        case path::vector_stacked: return {vector_kernels};
        case path::ragged: return {ragged_kernels, ragged_bytes_kernels};
        case path::tall: return {few_columns_kernels};
        case path::wide: return {few_rows_kernels};
        case path::small: return {small_kernels};
        case path::units:
        case path::blocks: return {unit_kernels};
        case path::vector_in_place:
        case path::units_in_place:
        case path::blocks_in_place: return {in_place_kernels};
        case path::strided:
        case path::nothing: break;
    }
    return {nullptr};
}

}  // namespace

bool run_tuned(const production::tuning& tuned, const matrix_work& work) {
    if (tuned.by == path::nothing) return true;
    const files_of_path files = files_of(tuned.by);
    for (production_kernels (*kernels_of_file)() : {files.first, files.second}) {
        if (kernels_of_file == nullptr) continue;
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

namespace cornerturn::production {

#if defined(CORNERTURN_EMULATED)
bool run_emulated(const tuning& tuned, const matrix_work& work) {
    if (tuned.by == path::strided) {
        run_strided(work, nullptr, &strided::run_emulated);
        return true;
    }
    return dialect::run_tuned(tuned, work);
}
#else
bool run_on_gpu(const tuning& tuned, const matrix_work& work) {
    if (tuned.by == path::strided) {
        const gpu on = device::gpu_of(device::launch_device());
        run_strided(work, &on, &strided::run_on_gpu);
        return true;
    }
    return dialect::run_tuned(tuned, work);
}
#endif

}  // namespace cornerturn::production
