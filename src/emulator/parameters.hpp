// How a function's parameters are passed, by the types that its debugging information names.
#pragma once

#include <elfutils/libdw.h>

#include <vector>

#include "emulator/symbols.hpp"

namespace cornerturn::emulator {

// Adds those of a function, in their order.
void add_parameters(Dwarf_Die& scope, std::vector<parameter>& all);

}  // namespace cornerturn::emulator
