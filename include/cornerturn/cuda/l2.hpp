// What transposes, copies and permutations leave in a GPU's L2 cache.
//
//     const auto before = cornerturn::cuda::set_l2_lines(cornerturn::cuda::l2_lines::ordinary);
//     cornerturn::cuda::transpose(in, out, stream);
//     cornerturn::cuda::set_l2_lines(before);
#pragma once

#include "cornerturn/export.h"

namespace cornerturn::cuda {

//  - kept: some 16 MiB of what was moved are the last to be evicted, for about a millisecond on an H200. There, a
//    transpose of 16 to 256 MiB takes 2 to 9 % less time, and one with a reduction of its result 1 to 8 %. But kernels
//    with a working set of 24-40 MiB that do not read the result take up to 20 % longer meanwhile.
//  - ordinary: what was moved is evicted as anything else, as after a copy.
//
// docs/experiments.md, 91, has the measurements.
enum class l2_lines { kept, ordinary };

// For all calls of the calling thread from now on, plans' too, on any device: each thread begins with `kept`. What has
// been launched or captured stays as it is. Returns what was set before.
CORNERTURN_EXPORT l2_lines set_l2_lines(l2_lines lines) noexcept;

}  // namespace cornerturn::cuda
