#include "cornerturn/cuda/l2.hpp"

#include <string>

#include "core/arguments.hpp"
#include "core/c_status.hpp"
#include "cornerturn/cornerturn.h"
#include "device/cuda_check.hpp"

namespace cornerturn::cuda {

l2_lines set_l2_lines(l2_lines lines) noexcept {
    const bool kept = device::keeps_lines();
    device::set_keeps_lines(lines == l2_lines::kept);
    return kept ? l2_lines::kept : l2_lines::ordinary;
}

}  // namespace cornerturn::cuda

cornerturn_status cornerturn_cuda_set_l2_lines(cornerturn_l2_lines lines) {
    using cornerturn::cuda::l2_lines;
    return cornerturn::detail::status_of([&] {
        if (lines != CORNERTURN_L2_KEPT && lines != CORNERTURN_L2_ORDINARY)
            cornerturn::refuse("lines", std::to_string(static_cast<int>(lines)), "it must be kept or ordinary");
        cornerturn::cuda::set_l2_lines(lines == CORNERTURN_L2_KEPT ? l2_lines::kept : l2_lines::ordinary);
    });
}
