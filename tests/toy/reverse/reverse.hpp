// Reversing the order of a matrix's rows: an operation that drop_in_test.py drops into a copy of the sources.
#pragma once

#include "device/registry.hpp"

namespace cornerturn {

const operation& reverse_operation();

}  // namespace cornerturn
