// The element types that the command line knows. A transpose moves bytes, so that only the size reaches a kernel.
#pragma once

#include <string>
#include <vector>

namespace cornerturn {

struct dtype {
    const char* name;
    int size;  // bytes
};

const std::vector<dtype>& dtypes();

// The first type of that size; one without a name where there is none.
dtype dtype_of(int size);

// Throws invalid_argument that names them all.
dtype find_dtype(const std::string& name);

}  // namespace cornerturn
