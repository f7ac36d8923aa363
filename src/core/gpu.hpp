// The properties of a GPU that decide which kernel is chosen. Because this is a plain value, tests can check the
// choices for GPUs that are not present.
#pragma once

#include <cstdint>

namespace cornerturn {

struct gpu {
    int capability = 90;  // 90 for 9.0
    int multiprocessors = 132;
    int shared_bytes = 228 << 10;           // per multiprocessor
    int shared_bytes_of_block = 227 << 10;  // the most that one block can request
    std::int64_t l2_bytes = 50 << 20;
    int dram_gbps = 4814;  // memory's clock times its width, in GB/s; 0 if it is not known

    friend bool operator==(const gpu&, const gpu&) = default;
};

// Kernels are tuned for this GPU, and the emulator emulates it.
inline constexpr gpu kH200{};

// Whether kernels ask the L2 to keep the last part of a result of `bytes` as long as it can, for the work that follows.
// A result of up to about half the L2 stays there anyway. A result of more than about ten times the L2 is written
// fastest if its lines leave the L2 in the order of the writes. On an H200: from 24 MiB, exclusive, to 512 MiB
// (docs/experiments/transpose.md).
constexpr bool keeps_result(std::int64_t bytes, std::int64_t l2_bytes) {
    return bytes > l2_bytes * 12 / 25 && bytes <= l2_bytes * 256 / 25;
}
static_assert(!keeps_result(24 << 20, kH200.l2_bytes) && keeps_result((24 << 20) + 1, kH200.l2_bytes));
static_assert(keeps_result(512 << 20, kH200.l2_bytes) && !keeps_result((512 << 20) + 1, kH200.l2_bytes));

// Shared memory per multiprocessor (CUDA C++ Programming Guide, "Compute Capabilities").
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

// A GPU of which only the compute capability is known. Its other properties are those of the H200.
constexpr gpu gpu_of_capability(int capability) {
    gpu result = kH200;
    result.capability = capability;
    result.shared_bytes = shared_bytes_of_capability(capability);
    result.shared_bytes_of_block = result.shared_bytes - (capability >= 80 ? 1 << 10 : 0);  // CUDA reserves the rest
    return result;
}

}  // namespace cornerturn
