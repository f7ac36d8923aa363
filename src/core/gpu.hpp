// What a choice among kernels depends on: a value, so that choices can be tested for GPUs that nobody here has.
#pragma once

#include <cstdint>

namespace cornerturn {

struct gpu {
    int capability = 90;  // 90 for 9.0
    int multiprocessors = 132;
    int shared_bytes = 228 << 10;           // of a multiprocessor
    int shared_bytes_of_block = 227 << 10;  // that one block can ask for
    std::int64_t l2_bytes = 50 << 20;

    friend bool operator==(const gpu&, const gpu&) = default;
};

// The one that kernels are tuned for, which the emulator stands for.
inline constexpr gpu kH200{};

}  // namespace cornerturn
