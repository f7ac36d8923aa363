// Divisions that trap on the CPU but not on a GPU.
#pragma once

#include <ucontext.h>

#include <optional>

namespace cornerturn::emulator {

// For a handler of SIGFPE: gives the interrupted division a GPU's result, and lets the code go on after it. Division by
// zero: the quotient has all bits set, the remainder is the dividend. The most negative integer divided by -1: itself,
// remainder 0. Returns whether the divisor was zero; for another instruction, returns nothing and changes nothing.
std::optional<bool> finish_division(ucontext_t& interrupted);

}  // namespace cornerturn::emulator
