// CUDA C++ as g++ can compile it: what CUDA adds to the language, said in g++'s.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace cornerturn::emulate {

// nvcc compiles a file once for the host and once for the GPU, and so does the emulator.
enum class pass { host, device };

struct rewritten {
    std::string text;
    // The names of variables at namespace scope that kernels and the host share, without their namespaces.
    std::set<std::string> device_variables, constant_variables, managed_variables;
};

// `preprocessed`: what `g++ -E` printed. In the pass for the host, kernels keep nothing but a jump to the emulator; in
// the device's, a static variable of theirs, kKernelMark, tells them from other functions in the symbol table.
// Throws error, which names file and line, for what the emulator lacks.
rewritten rewrite(std::string_view preprocessed, pass wanted);

inline constexpr const char* kKernelMark = "ct_kernel_mark";
inline constexpr std::size_t kKernelRoom =
    12;  // bytes before a host's kernel's first instruction, for two instructions

}  // namespace cornerturn::emulate
