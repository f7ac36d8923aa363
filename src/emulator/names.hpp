// Readable names of functions and variables.
#pragma once

#include <string>
#include <string_view>

namespace cornerturn::emulator {

// Returns the text itself if it is not a mangled name.
std::string demangle(const char* mangled);

// The parts of "void a::b::kernel<int, 8>(int const*)".
struct name_parts {
    std::string scope;      // "a::b::"
    std::string name;       // "kernel<int, 8>"
    std::string arguments;  // "(int const*)"
};
name_parts parts_of(const std::string& demangled);

// "kernel<int, 8>" for that name, without anonymous namespaces.
std::string short_name(const std::string& demangled);

// Whether `given` may mean the function with this mangled name. It may omit namespaces, template arguments, parameters
// and spaces.
bool may_mean(std::string_view given, const std::string& mangled);

}  // namespace cornerturn::emulator
