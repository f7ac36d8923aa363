// Strided copies by tiles, if the two sides have only short runs in common: see kernels/work.hpp.
//
// What limits it: for units of 4 bytes and more, nearly DRAM. For 1 and 2 bytes, instructions: a warp takes about 180
// for each 512 bytes that it writes. Also bank conflicts, if the units of a line are an even number of units apart in
// spans.
#pragma once

#include "move/kernels/lines.hpp"

namespace CORNERTURN_KERNELS {

// Writes lines unit by unit, if their units have gaps between them.
template <int kUnit>
__device__ __forceinline__ void write_units(const tile_work& t, const tile_here& here,
                                            const loaded_tile<moved<kUnit>, true>& tile) {
    using unit = storage_t<kUnit>;
    const unsigned* const to_table = tile.table + t.table_stride;
    const unsigned lanes = 1u << t.lanes_log;
    CORNERTURN_UNROLL_BY(1)
    for (int line = static_cast<int>(threadIdx.x >> t.lanes_log); line < here.lines;
         line += static_cast<int>(blockDim.x >> t.lanes_log)) {
        const place_of_line place = tile.place(t, line);
        CORNERTURN_UNROLL_BY(1)
        for (unsigned j = threadIdx.x & (lanes - 1); static_cast<int>(j) < here.line_units; j += lanes) {
            const unsigned period = t.by_period.quotient(j), at = j - period * t.by_period.d;
            const byte* const from =
                tile.image + place.row + tile.table[at] + static_cast<int>(period) * t.period_bytes;
            byte* const to = here.line0 + place.offset + (to_table[at] + period * t.along_destination);
            *reinterpret_cast<unit*>(to) = value_at<unit>(from);
        }
    }
}

// kGaps: the units of a line have gaps between them. Load reads the spans (tile.hpp).
template <int kUnit, bool kGaps, class Load>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads,
                                    (Load::kConverts ? moves::resident_threads_of_conversions(kUnit, false)
                                                     : moves::resident_threads_of_tiles(kUnit)))
    copy_tiles(tile_work t, Load load, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    const auto here = load.tile_of(t);
    const auto read = [&](const std::int64_t* span_table, byte* image) { load(t, here, span_table, image); };
    const loaded_tile<moved<kUnit>, kGaps> tile(t, here, moved<kUnit>{}, shared, read, [](const auto&) {});
    if constexpr (kGaps) {
        write_units(t, here, tile);
    } else {
        write_lines(t, here, tile, result);
    }
}

}  // namespace CORNERTURN_KERNELS
