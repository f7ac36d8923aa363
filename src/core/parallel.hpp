// A loop over all cores, for the lab's own work on host memory. With threads of the usual size: the shared memory of
// all emulated kernels lies in each one's stack, for which those of TBB can be too small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace cornerturn {

// Calls body(begin, end) with disjoint ranges that cover [0, count). body must not throw.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t worth_a_thread, Body body) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t threads = std::clamp<std::int64_t>(count / std::max<std::int64_t>(worth_a_thread, 1), 1, cores);
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < threads; ++i) {
        others.emplace_back([=] { body(count * i / threads, count * (i + 1) / threads); });
    }
    body(0, count / threads);
}

}  // namespace cornerturn
