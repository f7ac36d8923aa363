// What is asked about kernels: the names of kernels and of counters that budgets and tests' sessions have in common.
#pragma once

#include <string>
#include <vector>

#include "cornerturn/emulator/session.hpp"
#include "emulator/counters.hpp"

namespace cornerturn::emulator {

// "load.sectors_per_request", and what it is of a kernel.
struct reading {
    const char* name;
    double (*of)(const kernel_counters&);
};
const std::vector<reading>& readings();

access_counters counted(const counters& counts);

// Whether a name that somebody gave is that of the kernel "transpose<0>", whose mangled name is `symbol`: "*", the name
// as it is told, or its own with or without namespaces, template arguments and arguments.
bool is_named(const std::string& kernel, const std::string& symbol, const std::string& name);

// "absent never ran; there were transpose<0>, transpose<1>".
std::string never_ran(const std::string& name, const std::vector<std::string>& kernels);

}  // namespace cornerturn::emulator
