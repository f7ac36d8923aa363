// The library's kernels, as functions that launch.cu calls.
#pragma once

#include <utility>

#include "device/device.hpp"
#include "move/kernels/bytes.hpp"
#include "move/kernels/work.hpp"
#include "move/matrices.hpp"
#include "move/policy.hpp"

namespace CORNERTURN_KERNELS {

// `unit` is 1, 2, 4, 8 or 16 bytes. gaps: the units of a line have gaps between them; then `result` has no effect.
void run_tiles(const moves::tile_work& work, int unit, bool gaps, result_policy result, const launch_shape& shape);

// By groups of lines; `unit` is 1 or 2. shifted: some reads of a thread do not begin at a vector. aligned: all lines
// begin at a multiple of 4 bytes, and none is cut at a sector.
void run_groups(const moves::tile_work& work, int unit, bool shifted, bool aligned, const launch_shape& shape);

// `units` in a piece: 1 or 3; always 3 for units of 1 byte, and 1 for 16. `each`: 1 or kPiecesOfThread; 1 for 3 units.
void run_units(const moves::units_work& work, int unit, int units, int each, result_policy result,
               const launch_shape& shape);

// Conversions of a pair of types (move/converted_pairs.hpp): by tiles, of runs, and of matrices. File n of
// kConvertFiles has pairs n, n + kConvertFiles, and so on.
using run_conversion = void (*)(const moves::matrices_work& work, const moves::cast_work& w, const gpu& on);
struct converting {
    void (*tiles)(const moves::tile_work& t, const moves::cast_work& w, result_policy result,
                  const launch_shape& shape);
    void (*rows)(const moves::rows_work& r, const moves::cast_work& w, result_policy result, bool keeps_lines,
                 const launch_shape& shape);
    run_conversion (*vector)(int row);           // of kVectorConverted
    run_conversion (*few_columns)(int columns);  // from 2 to kMostConvertedColumns
};
inline constexpr int kConvertFiles = 4;
converting converting_0(int pair);
converting converting_1(int pair);
converting converting_2(int pair);
converting converting_3(int pair);

// Conversions by tiles when these are loaded.
void run_converted_at_load(const moves::plan& p, result_policy result, const launch_shape& shape);

// Conversions of all types. aligned: every element is aligned to its size.
void run_converted_units(const moves::units_work& work, const moves::cast_work& by, const element_cast& types,
                         bool aligned, const launch_shape& shape);

// `unit` is 1, 2, 4 or 8.
void run_packed(const moves::packed_work& work, int unit, result_policy result, bool keeps_lines,
                const launch_shape& shape);

// `relative_alignment`: the largest power of two, at most 16, that divides the distance from source to destination for
// every byte.
void run_rows(const moves::rows_work& work, int unit, int relative_alignment, result_policy result, bool keeps_lines,
              const launch_shape& shape);

// ---- Transposes of matrices: one kernel for each row of a table (move/matrices.hpp)

// Moves the work on that GPU. The caller has chosen the kernel for both, so nothing is checked.
using run_work = void (*)(const moves::matrices_work& work, const gpu& on);

run_work direct_kernel(int row);
run_work vector_kernel(int row);
run_work vector_apart_kernel(int row);
run_work ragged_kernel(int row);        // elements of 4 bytes and more
run_work ragged_bytes_kernel(int row);  // narrower elements
run_work tall_kernel(int row);
run_work wide_kernel(int row);
run_work small_kernel(int row);
run_work elements_kernel(int row);
run_work vector_in_place_kernel(int row);
run_work elements_in_place_kernel(int row);
run_work blocks_in_place_kernel(int row);

// Returns Rows::kernel<row>(). Rows is a type because g++ 12 lets the linker merge functions whose argument is a
// template of an unnamed namespace.
template <class Rows, int... kRows>
run_work kernel_of_row(int row, std::integer_sequence<int, kRows...>) {
    constexpr run_work kAll[] = {Rows::template kernel<kRows>()...};
    return kAll[row];
}
template <class Rows, int kRows>
run_work kernel_of_row(int row, const moves::tuning (&)[kRows]) {
    return kernel_of_row<Rows>(row, std::make_integer_sequence<int, kRows>());
}

}  // namespace CORNERTURN_KERNELS
