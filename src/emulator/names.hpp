// The names of functions and variables, as people write them.
#pragma once

#include <string>
#include <string_view>

namespace cornerturn::emulator {

// As it is where it is no mangled name.
std::string demangle(const char* mangled);

// "void a::b::kernel<int, 8>(int const*)", taken apart.
struct name_parts {
    std::string scope;      // "a::b::"
    std::string name;       // "kernel<int, 8>"
    std::string arguments;  // "(int const*)"
};
name_parts parts_of(const std::string& demangled);

// "kernel<int, 8>" of that, with no word of nameless namespaces.
std::string short_name(const std::string& demangled);

// Whether somebody who writes `given` may mean the function of this mangled name: with or without its namespaces, its
// template arguments and its arguments, and with spaces or none.
bool may_mean(std::string_view given, const std::string& mangled);

}  // namespace cornerturn::emulator
