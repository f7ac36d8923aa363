// Conversions by tiles: copy_tiles, with a conversion of each unit as it is gathered. See kernels/work.hpp.
//
// What limits it: instructions. A warp takes about 180 to gather 512 bytes of one- and two-byte units, and up to 3 for
// each unit to convert and scale it.
#pragma once

#include "move/converted_pairs.hpp"
#include "move/kernels/cast.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/lines.hpp"

namespace CORNERTURN_KERNELS {

template <element_type kFrom, element_type kTo>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads,
                                    (facts_of<kTo>::size == 1 ? moves::kResidentBytes : moves::kResidentThreads))
    convert_tiles(tile_work t, cast_work w, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    std::int64_t first = 0;
    const tile_here here(t, blockIdx.x, [&](int axis, unsigned at) {
        if (axis == w.tile_axis) first = at * w.tile_step;
    });
    if (here.before > 0) first -= w.halo_step;
    const converted<kFrom, kTo> move{w, first};
    const loaded_tile<converted<kFrom, kTo>, false> tile(t, here, move, shared, [](const auto&) {});
    write_lines(t, here, tile, result);
}

template <int kFirst>
struct pairs_from {
    template <int kNth>
    static void run(const tile_work& t, const cast_work& w, result_policy result, const launch_shape& shape) {
        constexpr moves::converted_pair kTypes = moves::kConvertedPairs[kFirst + kNth * kConvertFiles];
        launch(shape, convert_tiles<kTypes.from, kTypes.to>, t, w, result);
    }
    template <int... kNths>
    static run_converted nth(int n, std::integer_sequence<int, kNths...>) {
        constexpr run_converted kAll[] = {&run<kNths>...};
        return kAll[n];
    }
};

// Of the pairs from kFirst on, each kConvertFiles after the one before. Each pair takes seconds to compile, so the
// files convert_tiles_*.cu share them.
template <int kFirst>
run_converted converted_tiles(int pair) {
    constexpr int kCount = (moves::kPairs - kFirst + kConvertFiles - 1) / kConvertFiles;
    return pairs_from<kFirst>::nth(pair / kConvertFiles, std::make_integer_sequence<int, kCount>());
}

}  // namespace CORNERTURN_KERNELS
