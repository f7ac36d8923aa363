/// @file
/// What transposes, copies and permutations leave in the L2 cache of a GPU.
///
/// @code
/// const auto before = cornerturn::cuda::set_l2_lines(cornerturn::cuda::l2_lines::ordinary);
/// cornerturn::cuda::transpose(in, out, stream);
/// cornerturn::cuda::set_l2_lines(before);
/// @endcode
#pragma once

#include "cornerturn/export.h"

namespace cornerturn::cuda {

/// What transposes, copies and permutations leave in the L2 cache. docs/experiments/copies.md,
/// experiment 91, has the measurements.
enum class l2_lines {
    /// About 16 MiB of the moved data stay in the L2 cache longer than other lines: for about a millisecond on an H200.
    ///
    /// On an H200, a transpose of 16 to 256 MiB takes 2 to 8 % less time than with `ordinary`. A transpose and a
    /// reduction of its result together take 1 to 7 % less. But kernels with a working set of 24-40 MiB that do not
    /// read the result take up to 28 % longer during that time.
    kept,
    /// The moved data are evicted like any others.
    ordinary
};

/// Chooses what stays in the L2 cache, for all later calls of the calling thread on any device.
///
/// The choice holds for plans too. Each thread begins with `kept`. Work that has been launched or captured does not
/// change.
/// @param lines The choice.
/// @return The choice before this call.
CORNERTURN_EXPORT l2_lines set_l2_lines(l2_lines lines) noexcept;

}  // namespace cornerturn::cuda
