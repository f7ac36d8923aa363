// A loop over all cores, for the lab's own work on host memory. With threads of the usual size: the shared memory of
// all emulated kernels lies in each one's stack, for which those of TBB can be too small.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace cornerturn {

// Starts `count` threads, or fewer where a limit of the user or the container stops it.
template <class Body>
std::vector<std::jthread> start_threads(std::int64_t count, Body body) {
    std::vector<std::jthread> threads;
    try {
        for (std::int64_t i = 0; i < count; ++i) threads.emplace_back(body, i);
    } catch (const std::exception&) {  // no thread, or no memory for one
    }
    return threads;
}

// How many of so many threads the system gives, the caller's among them.
inline std::int64_t available_threads(std::int64_t wanted) {
    std::atomic<bool> counted = false;
    const auto others = start_threads(wanted - 1, [&](std::int64_t) { counted.wait(false); });
    counted = true;
    counted.notify_all();
    return 1 + static_cast<std::int64_t>(others.size());
}

// Calls body(begin, end) with disjoint ranges that cover [0, count). body must not throw.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t worth_a_thread, Body body) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t threads = std::clamp<std::int64_t>(count / std::max<std::int64_t>(worth_a_thread, 1), 1, cores);
    const auto others =
        start_threads(threads - 1, [=](std::int64_t i) { body(count * i / threads, count * (i + 1) / threads); });
    body(count * static_cast<std::int64_t>(others.size()) / threads, count);
}

}  // namespace cornerturn
