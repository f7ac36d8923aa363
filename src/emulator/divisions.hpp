// Divisions that the processor refuses and a GPU does not.
#pragma once

#include <ucontext.h>

#include <optional>

namespace cornerturn::emulator {

// For a handler of SIGFPE: gives the interrupted division the result that a GPU gives, and has the code go on behind
// it. An integer by zero has all bits set, and leaves itself; the most negative one by -1 is itself, and leaves
// nothing. Returns whether the divisor was zero; nothing where the instruction is another, and all is as it was.
std::optional<bool> finish_division(ucontext_t& interrupted);

}  // namespace cornerturn::emulator
