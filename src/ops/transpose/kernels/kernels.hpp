// The production kernels, as each file of them hands them out.
#pragma once

#include "device/device.hpp"
#include "ops/transpose/kernels/policy.hpp"

namespace CORNERTURN_KERNELS {

using production::path;

// Moves the work as it is tuned. The caller has chosen it for this work: nothing is checked.
struct production_kernel {
    production::tuning tuned;
    void (*run)(const matrix_work& work);
};

struct production_kernels {
    const production_kernel* all;
    int count;
};

production_kernels direct_kernels();
production_kernels vector_kernels();
production_kernels ragged_kernels();
production_kernels ragged_bytes_kernels();
production_kernels few_columns_kernels();
production_kernels few_rows_kernels();
production_kernels small_kernels();
production_kernels unit_kernels();
production_kernels in_place_kernels();

// Runs the kernel that is tuned so; false if there is none.
bool run_tuned(const production::tuning& tuned, const matrix_work& work);

}  // namespace CORNERTURN_KERNELS
