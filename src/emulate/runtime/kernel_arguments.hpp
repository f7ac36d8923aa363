// The program's kernels, and the location of a kernel's arguments at a call: in registers and on the stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/record.hpp"
#include "emulator/symbols.hpp"

namespace cornerturn::emulator {

struct saved_registers {
    std::array<std::uint64_t, 6> integers;
    std::array<std::array<std::uint64_t, 2>, 8> vectors;
};
static_assert(sizeof(saved_registers) == 176);

struct kernel {
    kernel_facts facts;
    record::kernel_name name;
    const void* device = nullptr;
    std::vector<parameter> parameters;
    std::size_t stack_bytes = 0;  // of the arguments that do not fit in registers
};

// `address`: the kernel's address in host code or in device code. Returns null if there is no kernel at this address.
const kernel* find_kernel(const void* address);

// Copies the arguments of a kernel. Each copy holds the bytes of one argument.
std::vector<std::vector<std::byte>> arguments_of(const kernel& which, const saved_registers& registers,
                                                 const void* stack);
// Stores the arguments where the kernel expects them.
void store_arguments(const kernel& which, void** arguments, saved_registers& registers, std::byte* stack);

}  // namespace cornerturn::emulator
