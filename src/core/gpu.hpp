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

// Whether the L2 is to keep the last part of a result of so many bytes as long as it can, for what follows. Half of the
// L2 stays there anyway; what is ten times as large leaves it fastest in the order it was written. On an H200: more
// than 24 MiB, up to 512 MiB (docs/experiments.md).
constexpr bool keeps_result(std::int64_t bytes, std::int64_t l2_bytes) {
    return bytes > l2_bytes * 12 / 25 && bytes <= l2_bytes * 256 / 25;
}
static_assert(!keeps_result(24 << 20, kH200.l2_bytes) && keeps_result((24 << 20) + 1, kH200.l2_bytes));
static_assert(keeps_result(512 << 20, kH200.l2_bytes) && !keeps_result((512 << 20) + 1, kH200.l2_bytes));

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
