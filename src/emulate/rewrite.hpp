// Rewrites CUDA C++ to C++ that g++ compiles: replaces each keyword and construct that CUDA adds to the language.
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
    // Variables at namespace scope that kernels and the host share: their names without namespaces.
    std::set<std::string> device_variables, constant_variables, managed_variables;
};

// `preprocessed` is the output of `g++ -E`. In the host pass, a kernel's body becomes a jump to the emulator. In the
// device pass, each kernel gets a static variable kKernelMark, which marks it as a kernel in the symbol table. Throws
// error, which names file and line, for code that the emulator does not support.
rewritten rewrite(std::string_view preprocessed, pass wanted);

inline constexpr const char* kKernelMark = "ct_kernel_mark";
// Bytes of padding at the start of a kernel in the host's code: room for two instructions.
inline constexpr std::size_t kKernelPadding = 12;

}  // namespace cornerturn::emulate
