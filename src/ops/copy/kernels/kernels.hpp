// The kernels of strided copies, as their files hand them out.
#pragma once

#include "device/device.hpp"
#include "ops/copy/kernels/bytes.hpp"
#include "ops/copy/kernels/works.hpp"

namespace CORNERTURN_KERNELS {

// `unit` is 1, 2, 4, 8 or 16 bytes. gaps: units of a line do not lie behind each other.
void run_tiles(const strided::tile_work& work, int unit, bool gaps, const launch_shape& shape);

// By groups of lines. shifted: not all that a thread reads at a time begins at a vector; aligned: all lines begin at 4
// bytes, and none is cut at a sector. `unit` is 1 or 2.
void run_groups(const strided::tile_work& work, int unit, bool shifted, bool aligned, const launch_shape& shape);

// `units` of a piece: 1 or 3, of 1 byte always 3, of 16 bytes 1. `each`: 1 or kPiecesOfThread, of three units always 1.
void run_units(const strided::units_work& work, int unit, int units, int each, const launch_shape& shape);

// `apart`: the largest power of two up to 16 that divides the distance between where a byte comes from and where it
// goes, for all of them.
void run_rows(const strided::rows_work& work, int unit, int apart, bool keeps_lines, const launch_shape& shape);

}  // namespace CORNERTURN_KERNELS
