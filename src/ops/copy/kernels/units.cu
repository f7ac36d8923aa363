// Strided copies unit by unit: see works.hpp.
//
// What limits: sectors of the source, of which neighbours in a warp share few; then instructions, of which an axis
// takes about 10 for each unit.
#include "ops/copy/kernels/kernels.hpp"
#include "ops/copy/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using strided::kMostThreads;
using strided::kUnitsOfBlock;
using strided::units_work;

template <int kUnit>
__global__ void CORNERTURN_RESIDENT(kMostThreads, 2048) copy_units(units_work w) {
    using unit = storage_t<kUnit>;
    constexpr int kEach = kUnitsOfBlock / kMostThreads;
    const unsigned first = blockIdx.x * kUnitsOfBlock + threadIdx.x;
    unit values[kEach];
    byte* to[kEach];
    wait_for_work_ahead();
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        const unsigned index = first + static_cast<unsigned>(n * kMostThreads);
        to[n] = nullptr;
        if (index >= w.units) continue;
        const place_of_index place(w.of_units, index);
        values[n] = value_at<unit>(w.source + place.source);
        to[n] = w.destination + place.destination;
    }
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        if (to[n] != nullptr) __stwb(reinterpret_cast<unit*>(to[n]), values[n]);
    }
}

}  // namespace

void run_units(const units_work& w, int unit, const launch_shape& shape) {
    switch (unit) {
        case 2: return launch(shape, copy_units<2>, w);
        case 4: return launch(shape, copy_units<4>, w);
        case 8: return launch(shape, copy_units<8>, w);
        default: return launch(shape, copy_units<16>, w);
    }
}

}  // namespace CORNERTURN_KERNELS
