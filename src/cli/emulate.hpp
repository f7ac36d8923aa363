// The commands that take a compiler's words, which no other command's parser would.
#pragma once

#include <string>
#include <vector>

namespace cornerturn::cli {

// Both return the program's exit status.
int run_cc(const std::vector<std::string>& words);
int run_emulate(const std::vector<std::string>& words);

}  // namespace cornerturn::cli
