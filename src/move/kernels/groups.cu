// Copies by groups of lines: see groups.hpp.
#include "move/kernels/groups.hpp"
#include "move/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {

void run_groups(const moves::tile_work& t, int unit, bool shifted, bool aligned, const launch_shape& shape) {
    if (unit == 1) return start_groups<1>(t, spans_as_they_are<1>{}, shifted, aligned, shape);
    start_groups<2>(t, spans_as_they_are<2>{}, shifted, aligned, shape);
}

}  // namespace CORNERTURN_KERNELS
