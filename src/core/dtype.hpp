// The element types of the command line. A transpose moves bytes, so a kernel gets only their size.
#pragma once

#include <string>
#include <vector>

#include "cornerturn/element.hpp"

namespace cornerturn {

struct dtype {
    const char* name;
    int size;  // bytes
};

const std::vector<dtype>& dtypes();

// The first type of that size. If there is none, a type with an empty name.
dtype dtype_of(int size);

// Throws invalid_argument, whose message lists all types.
dtype find_dtype(const std::string& name);

// The element type of that name, as name_of() has it. Throws invalid_argument, whose message quotes `option` and lists
// all types.
element_type find_element_type(const std::string& option, const std::string& name);

}  // namespace cornerturn
