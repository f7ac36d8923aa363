// Runs other programs.
#pragma once

#include <string>
#include <vector>

namespace cornerturn::emulate {

// Runs command[0], found on the PATH, and waits. Returns its exit code, or 128 + the signal that ended it. `errors`, if
// given, receives its standard error. Throws error if it cannot be started.
int run_program(const std::vector<std::string>& command, std::string* errors = nullptr);

// The same; `output` receives its standard output.
int run_program_for(std::string& output, const std::vector<std::string>& command, std::string* errors = nullptr);

}  // namespace cornerturn::emulate
