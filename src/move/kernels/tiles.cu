// Copies by tiles: see tiles.hpp.
#include "move/kernels/kernels.hpp"
#include "move/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kUnit>
void run(const tile_work& t, bool gaps, result_policy result, const launch_shape& shape) {
    using load = spans_as_they_are<kUnit>;
    if (gaps) return launch(shape, copy_tiles<kUnit, true, load>, t, load{}, result);
    launch(shape, copy_tiles<kUnit, false, load>, t, load{}, result);
}

}  // namespace

void run_tiles(const tile_work& t, int unit, bool gaps, result_policy result, const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(t, gaps, result, shape);
        case 2: return run<2>(t, gaps, result, shape);
        case 4: return run<4>(t, gaps, result, shape);
        case 8: return run<8>(t, gaps, result, shape);
        default: return run<16>(t, gaps, result, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
