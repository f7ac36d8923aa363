// Copies of runs: see rows.hpp.
#include "move/kernels/kernels.hpp"
#include "move/kernels/rows.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::rows_work;

template <int kUnit, int kApart>
void start(const rows_work& w, result_policy result, bool keeps_lines, const launch_shape& shape) {
    using move = moved_run<kUnit, kApart>;
    launch(shape, copy_rows<move>, w, typename move::work{}, result, keeps_lines);
}

template <int kUnit>
void run(const rows_work& w, int relative_alignment, result_policy result, bool keeps_lines,
         const launch_shape& shape) {
    if constexpr (kUnit <= 16) {
        if (relative_alignment >= 16 || kUnit == 16) return start<kUnit, 16>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 8) {
        if (relative_alignment >= 8 || kUnit == 8) return start<kUnit, 8>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 4) {
        if (relative_alignment >= 4 || kUnit == 4) return start<kUnit, 4>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 2) start<kUnit, 1>(w, result, keeps_lines, shape);
}

}  // namespace

void run_rows(const rows_work& w, int unit, int relative_alignment, result_policy result, bool keeps_lines,
              const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(w, relative_alignment, result, keeps_lines, shape);
        case 2: return run<2>(w, relative_alignment, result, keeps_lines, shape);
        case 4: return run<4>(w, relative_alignment, result, keeps_lines, shape);
        case 8: return run<8>(w, relative_alignment, result, keeps_lines, shape);
        default: return run<16>(w, relative_alignment, result, keeps_lines, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
