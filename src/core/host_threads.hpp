// Limits the threads of oneTBB to those that the system grants.
#pragma once

#include <sys/resource.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "core/parallel.hpp"

namespace cornerturn {

// The most threads that oneTBB uses, in the whole process.
inline std::int64_t allowed_threads() {
    return static_cast<std::int64_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

// The number of further threads that fit in memory, if a limit of the user (ulimit -v) restricts the address space.
inline std::optional<std::int64_t> threads_by_memory() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;  // the first number counts mapped pages
    const rlim_t left = limit.rlim_cur - std::min(limit.rlim_cur, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)));
    // The C library maps 128 MiB for a thread that allocates, then unmaps half of it. A stack has 8 MiB by default.
    return static_cast<std::int64_t>(left / (rlim_t{136} << 20));
}

// Makes oneTBB start `count` threads now, before something else takes the threads or their memory. Workers that are
// busy elsewhere do not arrive, so it stops waiting if none arrived for 100 ms.
inline void start_host_threads(std::int64_t count) {
    if (count < 2) return;
    using clock = std::chrono::steady_clock;
    constexpr auto kLongestWait = std::chrono::milliseconds(100);
    std::atomic<std::int64_t> started = 0;
    std::atomic<clock::time_point> latest = clock::now() + kLongestWait;
    const auto wait_for_all = [&](std::int64_t) {
        latest = clock::now() + kLongestWait;
        ++started;
        while (started < count && clock::now() < latest.load()) std::this_thread::yield();
    };
    tbb::task_group_context own(tbb::task_group_context::isolated);
    tbb::task_arena(static_cast<int>(count)).execute([&] {
        tbb::parallel_for(std::int64_t{0}, count, wait_for_all, tbb::simple_partitioner(), own);
    });
}

// oneTBB ends the process if the system refuses a thread to one of its workers. So if the system grants fewer threads
// than oneTBB may start, or has memory for fewer, this limits oneTBB to that number until the process ends. The host
// library calls this before all parallel work. The first call counts the threads for all cores, even if the caller lets
// oneTBB use fewer for now: when the caller's limit ends, oneTBB may start the others before the next call. Only if
// oneTBB may then use more than were counted, it counts again. It does not count the threads that oneTBB has by then,
// so the limit may be lower than necessary. Call it before oneTBB runs anything else. `others`: threads that the caller
// will start later.
inline void limit_host_threads(std::int64_t others = 0) {
    static std::atomic<std::int64_t> last_allowed = 1;
    if (allowed_threads() <= last_allowed) return;
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    const std::int64_t allowed = allowed_threads();
    if (allowed <= last_allowed) return;
    const std::optional<std::int64_t> more = threads_by_memory();
    const std::int64_t most_by_memory = more ? 1 + *more : std::numeric_limits<std::int64_t>::max();
    static std::int64_t counted = 0, granted = 0;  // how many it asked the system for, and got
    const std::int64_t wanted = std::max<std::int64_t>(allowed, std::thread::hardware_concurrency()) + others;
    if (wanted > counted) {
        counted = wanted;
        granted = available_threads(std::min(wanted, most_by_memory));
    }
    const std::int64_t given = std::max<std::int64_t>(std::min(granted, most_by_memory) - others, 1);
    if (given + others < wanted) {
        // Never deleted: without the limit, oneTBB would start more. Leak checkers do not report it, because the
        // variable still points to it.
        [[maybe_unused]] static const tbb::global_control* limit;
        limit = new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(given));
    }
    if (given + others < wanted || more) start_host_threads(std::min(given, allowed));
    last_allowed = allowed;
}

}  // namespace cornerturn
