// Strided copies piece by piece; a piece is one unit or three: see kernels/work.hpp.
//
// What limits it: sectors of the source, because neighbours in a warp share few. Then instructions: an axis takes about
// 14 for each piece.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::kMostThreads;
using moves::units_work;

template <int kUnit, int kUnits, int kEach>
__global__ void CORNERTURN_RESIDENT(kMostThreads, 2048) copy_units(units_work w, result_policy result) {
    using unit = storage_t<kUnit>;
    const unsigned first = blockIdx.x * (kEach * kMostThreads) + threadIdx.x;
    unit values[kEach][kUnits];
    byte* to[kEach];
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        const unsigned index = first + static_cast<unsigned>(n * kMostThreads);
        to[n] = nullptr;
        if (index >= w.pieces) continue;
        const place_of_index place(w.of_pieces, index);
        // The thread computes its first position while the kernel before this one ends. A thread without a piece
        // touches no memory and need not wait.
        if (n == 0) wait_for_work_ahead();
        CORNERTURN_UNROLL
        for (int u = 0; u < kUnits; ++u) values[n][u] = value_at<unit>(w.source + (place.source + u * kUnit));
        to[n] = w.destination + place.destination;
    }
    CORNERTURN_UNROLL
    for (int n = 0; n < kEach; ++n) {
        if (to[n] == nullptr) continue;
        CORNERTURN_UNROLL
        for (int u = 0; u < kUnits; ++u) {
            unit* const address = reinterpret_cast<unit*>(to[n] + u * kUnit);
            if constexpr (kUnit == kVectorBytes) {
                result.store(address, values[n][u]);
            } else {
                __stwb(address, values[n][u]);  // parts of sectors are slower if their lines stay
            }
        }
    }
}

template <int kUnit>
void run(const units_work& w, int units, int each, result_policy result, const launch_shape& shape) {
    if constexpr (kUnit == 1) {
        launch(shape, copy_units<1, 3, 1>, w, result);  // single bytes are always moved three at a time
    } else {
        if constexpr (kUnit < kVectorBytes) {
            if (units == 3) return launch(shape, copy_units<kUnit, 3, 1>, w, result);
        }
        if (each == 1) return launch(shape, copy_units<kUnit, 1, 1>, w, result);
        launch(shape, copy_units<kUnit, 1, moves::kPiecesOfThread>, w, result);
    }
}

}  // namespace

void run_units(const units_work& w, int unit, int units, int each, result_policy result, const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(w, units, each, result, shape);
        case 2: return run<2>(w, units, each, result, shape);
        case 4: return run<4>(w, units, each, result, shape);
        case 8: return run<8>(w, units, each, result, shape);
        default: return run<16>(w, units, each, result, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
