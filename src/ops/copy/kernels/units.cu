// Strided copies unit by unit: see works.hpp.
//
// What limits: sectors of the source, of which neighbours in a warp share few; then instructions, of which an axis
// takes about 10 for each unit.
#include "ops/copy/kernels/kernels.hpp"
#include "ops/copy/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using strided::kMostThreads;
using strided::units_work;

template <int kUnit, int kEach>
__global__ void CORNERTURN_RESIDENT(kMostThreads, 2048) copy_units(units_work w) {
    using unit = storage_t<kUnit>;
    const unsigned first = blockIdx.x * (kEach * kMostThreads) + threadIdx.x;
    unit values[kEach];
    byte* to[kEach];
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        const unsigned index = first + static_cast<unsigned>(n * kMostThreads);
        to[n] = nullptr;
        if (index >= w.units) continue;
        const place_of_index place(w.of_units, index);
        // The first place is worked out while the kernel ahead ends. Who has no unit touches no memory, and need not
        // wait.
        if (n == 0) wait_for_work_ahead();
        values[n] = value_at<unit>(w.source + place.source);
        to[n] = w.destination + place.destination;
    }
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        if (to[n] != nullptr) __stwb(reinterpret_cast<unit*>(to[n]), values[n]);
    }
}

template <int kUnit>
void run(const units_work& w, int each, const launch_shape& shape) {
    if (each == 1) return launch(shape, copy_units<kUnit, 1>, w);
    launch(shape, copy_units<kUnit, strided::kUnitsOfThread>, w);
}

}  // namespace

void run_units(const units_work& w, int unit, int each, const launch_shape& shape) {
    switch (unit) {
        case 2: return run<2>(w, each, shape);
        case 4: return run<4>(w, each, shape);
        case 8: return run<8>(w, each, shape);
        default: return run<16>(w, each, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
