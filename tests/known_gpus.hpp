// GPUs that policies are tested for.
#pragma once

#include "core/gpu.hpp"

namespace cornerturn::tests {

// From compute capability 7.5 to 12.0.
inline constexpr gpu kGpus[] = {
    {75, 40, 64 << 10, 64 << 10, 4 << 20, 0},  {80, 108, 164 << 10, 163 << 10, 40 << 20},
    {86, 84, 100 << 10, 99 << 10, 6 << 20},    {89, 128, 100 << 10, 99 << 10, 72 << 20},
    {90, 132, 228 << 10, 227 << 10, 50 << 20}, {100, 148, 228 << 10, 227 << 10, 126 << 20},
    {120, 170, 100 << 10, 99 << 10, 96 << 20},
};

}  // namespace cornerturn::tests
