// Counts the threads that the system grants, and runs a loop on all cores, for the lab's own work. It uses plain
// threads with stacks of the default size. TBB's stacks can be too small: each thread's stack holds the shared memory
// of all emulated kernels.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace cornerturn {

// Starts `count` threads, or fewer if a limit of the user or the container is reached.
template <class Body>
std::vector<std::jthread> start_threads(std::int64_t count, Body body) {
    std::vector<std::jthread> threads;
    try {
        for (std::int64_t i = 0; i < count; ++i) threads.emplace_back(body, i);
    } catch (const std::exception&) {  // the system refused a thread or its memory
    }
    return threads;
}

// How many of `wanted` threads the system grants, including the calling thread. The system still counts a thread for a
// moment after it was joined, so this waits until they are gone.
inline std::int64_t available_threads(std::int64_t wanted) {
    std::vector<std::atomic<pid_t>> numbers(static_cast<std::size_t>(std::max<std::int64_t>(wanted - 1, 0)));
    std::atomic<bool> counted = false;
    auto others = start_threads(wanted - 1, [&](std::int64_t i) {
        numbers[static_cast<std::size_t>(i)] = static_cast<pid_t>(syscall(SYS_gettid));
        counted.wait(false);
    });
    counted = true;
    counted.notify_all();
    const auto given = static_cast<std::int64_t>(others.size());
    others.clear();
    constexpr int kMostYields = 100'000;  // a limit, because a new thread may have taken the number
    for (const std::atomic<pid_t>& number : numbers) {
        for (int i = 0; number != 0 && i < kMostYields && syscall(SYS_tgkill, getpid(), number.load(), 0) == 0; ++i)
            sched_yield();
    }
    return 1 + given;
}

// Calls body(begin, end) on several threads, with disjoint ranges that cover [0, count). Each thread gets at least
// `worth_a_thread` items, if there are as many. body must not throw.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t worth_a_thread, Body body) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t threads = std::clamp<std::int64_t>(count / std::max<std::int64_t>(worth_a_thread, 1), 1, cores);
    const auto others =
        start_threads(threads - 1, [=](std::int64_t i) { body(count * i / threads, count * (i + 1) / threads); });
    body(count * static_cast<std::int64_t>(others.size()) / threads, count);
}

}  // namespace cornerturn
