// What explain tells of one kernel.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace cornerturn::cli {

// What the kernel is for, what each line of it does, and what one warp does to sectors and banks; as a drawing too, in
// the file that --svg names. Throws invalid_argument that names the option at fault.
std::string explain_kernel(const kernel& k, const invocation& asked);

}  // namespace cornerturn::cli
