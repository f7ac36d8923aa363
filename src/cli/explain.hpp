// explain for one kernel.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace cornerturn::cli {

// The kernel's idea, the counters of its lines, and the sectors and banks that one warp accesses. Also draws these
// accesses to the file of --svg. Throws invalid_argument that names the option at fault.
std::string explain_kernel(const kernel& k, const invocation& invocation);

}  // namespace cornerturn::cli
