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

// Shared memory of a multiprocessor (CUDA C++ Programming Guide, compute capabilities).
constexpr int shared_bytes_of_capability(int capability) {
    constexpr struct {
        int from, kib;
    } kShared[] = {{75, 64}, {80, 164}, {86, 100}, {87, 164}, {89, 100}, {90, 228}, {120, 100}};
    int kib = kShared[0].kib;
    for (const auto& row : kShared) {
        if (capability >= row.from) kib = row.kib;
    }
    return kib << 10;
}

// A GPU of which no more is known than its compute capability: in all else it is the one that kernels are tuned for.
constexpr gpu gpu_of_capability(int capability) {
    gpu on = kH200;
    on.capability = capability;
    on.shared_bytes = shared_bytes_of_capability(capability);
    on.shared_bytes_of_block = on.shared_bytes - (capability >= 80 ? 1 << 10 : 0);  // the rest is CUDA's
    return on;
}

}  // namespace cornerturn
