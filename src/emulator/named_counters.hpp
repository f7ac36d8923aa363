// The names of kernels and counters that budgets and the sessions of tests use.
#pragma once

#include <string>
#include <vector>

#include "cornerturn/emulator/session.hpp"
#include "emulator/counters.hpp"

namespace cornerturn::emulator {

// A name such as "load.sectors_per_request", and the function that computes its value for a kernel.
struct named_counter {
    const char* name;
    double (*of)(const kernel_counters&);
};
const std::vector<named_counter>& named_counters();

access_counters counted(const counters& counts);

// Whether `name` selects the kernel "transpose<0>", whose mangled name is `symbol`. It may be "*", the reported name,
// or the full name with or without namespaces, template arguments and parameters.
bool is_named(const std::string& kernel, const std::string& symbol, const std::string& name);

// "absent never ran; the kernels that ran are transpose<0>, transpose<1>".
std::string never_ran(const std::string& name, const std::vector<std::string>& kernels);

}  // namespace cornerturn::emulator
