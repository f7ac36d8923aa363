// The kernels of strided copies, as functions that dispatch.cu calls.
#pragma once

#include "device/device.hpp"
#include "ops/copy/kernels/bytes.hpp"
#include "ops/copy/kernels/kernel_arguments.hpp"

namespace CORNERTURN_KERNELS {

// `unit` is 1, 2, 4, 8 or 16 bytes. gaps: the units of a line have gaps between them.
void run_tiles(const strided::tile_work& work, int unit, bool gaps, const launch_shape& shape);

// By groups of lines; `unit` is 1 or 2. shifted: some reads of a thread do not begin at a vector. aligned: all lines
// begin at a multiple of 4 bytes, and none is cut at a sector.
void run_groups(const strided::tile_work& work, int unit, bool shifted, bool aligned, const launch_shape& shape);

// `units` in a piece: 1 or 3; always 3 for units of 1 byte, and 1 for 16. `each`: 1 or kPiecesOfThread; 1 for 3 units.
void run_units(const strided::units_work& work, int unit, int units, int each, const launch_shape& shape);

// `apart`: the largest power of two, at most 16, that divides the distance from source to destination for every byte.
void run_rows(const strided::rows_work& work, int unit, int relative_alignment, bool keeps_lines,
              const launch_shape& shape);

}  // namespace CORNERTURN_KERNELS
