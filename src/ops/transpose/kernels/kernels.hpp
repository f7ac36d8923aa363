// The library's transposes, as functions: one kernel for each row of a table (tunings.hpp).
#pragma once

#include <utility>

#include "device/device.hpp"
#include "ops/transpose/kernels/tunings.hpp"

namespace CORNERTURN_KERNELS {

using transposes::kernel_family;

// Moves the work on that GPU. The caller has chosen the kernel for both, so nothing is checked.
using run_work = void (*)(const matrix_work& work, const gpu& on);

run_work direct_kernel(int row);
run_work vector_kernel(int row);
run_work ragged_kernel(int row);        // elements of 4 bytes and more
run_work ragged_bytes_kernel(int row);  // narrower elements
run_work tall_kernel(int row);
run_work wide_kernel(int row);
run_work small_kernel(int row);
run_work units_kernel(int row);
run_work blocks_kernel(int row);
run_work vector_in_place_kernel(int row);
run_work units_in_place_kernel(int row);
run_work blocks_in_place_kernel(int row);

// Returns Rows::kernel<row>(). Rows is a type because g++ 12 lets the linker merge functions whose argument is a
// template of an unnamed namespace.
template <class Rows, int... kRows>
run_work kernel_of_row(int row, std::integer_sequence<int, kRows...>) {
    constexpr run_work kAll[] = {Rows::template kernel<kRows>()...};
    return kAll[row];
}
template <class Rows, class Row, int kRows>
run_work kernel_of_row(int row, const Row (&)[kRows]) {
    return kernel_of_row<Rows>(row, std::make_integer_sequence<int, kRows>());
}

}  // namespace CORNERTURN_KERNELS
