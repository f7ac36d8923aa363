// How a function's parameters are passed, from their types in the debug information.
#pragma once

#include <elfutils/libdw.h>

#include <vector>

#include "emulator/symbols.hpp"

namespace cornerturn::emulator {

// Appends a function's parameters, in their order.
void add_parameters(Dwarf_Die& scope, std::vector<parameter>& all);

}  // namespace cornerturn::emulator
