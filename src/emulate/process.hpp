// Running other programs.
#pragma once

#include <string>
#include <vector>

namespace cornerturn::emulate {

// Runs the program, found on the PATH, and waits for it: its exit status, or 128 and the signal that ended it. What it
// says on standard error goes to `errors` if that is given. Throws error where it cannot be started.
int run_program(const std::vector<std::string>& words, std::string* errors = nullptr);

// The same, with what it writes to standard output.
int run_program_for(std::string& output, const std::vector<std::string>& words, std::string* errors = nullptr);

}  // namespace cornerturn::emulate
