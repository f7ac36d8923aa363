// Conversions by tiles that happen when spans are loaded: see cast_spans.hpp.
#include "move/kernels/cast_spans.hpp"
#include "move/kernels/groups.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kUnit>
void run(const moves::plan& p, result_policy result, const launch_shape& shape) {
    const cast_spans<kUnit> load{p.cast, p.pair};
    if constexpr (kUnit <= 2) {
        if (p.groups) return start_groups<kUnit>(p.tiles, load, p.shifted, p.aligned, shape);
    }
    if (p.gaps) return launch(shape, copy_tiles<kUnit, true, cast_spans<kUnit>>, p.tiles, load, result);
    launch(shape, copy_tiles<kUnit, false, cast_spans<kUnit>>, p.tiles, load, result);
}

}  // namespace

void run_converted_at_load(const moves::plan& p, result_policy result, const launch_shape& shape) {
    switch (p.unit) {
        case 1: return run<1>(p, result, shape);
        case 2: return run<2>(p, result, shape);
        default: return run<4>(p, result, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
