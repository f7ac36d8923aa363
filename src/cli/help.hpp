// The texts of --help.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace cornerturn::cli {

std::string help_of(const command& c);
std::string help_of_program(const std::string& about, const std::vector<command>& commands);

}  // namespace cornerturn::cli
