// How many threads oneTBB may start.
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
#include <optional>
#include <thread>

#include "core/parallel.hpp"

namespace cornerturn {

// The most threads that oneTBB shares work among, in the whole process.
inline std::int64_t allowed_threads() {
    return static_cast<std::int64_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

// For how many more threads there is memory, if a limit of the user (ulimit -v) ends what the process can map.
inline std::optional<std::int64_t> threads_by_memory() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;  // the first number: what is mapped
    const rlim_t left = limit.rlim_cur - std::min(limit.rlim_cur, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)));
    // The C library maps 128 MiB for a thread that allocates, and gives half of it back. A stack has 8 MiB by default.
    return static_cast<std::int64_t>(left / (rlim_t{136} << 20));
}

// oneTBB ends the process if the system refuses one of its workers a thread. So where the system gives fewer threads
// than oneTBB would start, or has the memory for fewer, this limits oneTBB to that number until the process ends, and
// has it start them now, before anything else takes them. Threads that oneTBB has already are not counted: it may be
// limited to fewer than it could have. The host library calls this before it shares work out. Call it before oneTBB
// runs anything else. `others`: threads that the caller will start later.
inline void limit_host_threads(std::int64_t others = 0) {
    const std::int64_t wanted = allowed_threads();
    const std::optional<std::int64_t> more = threads_by_memory();
    const std::int64_t most = more ? std::min(wanted + others, 1 + *more) : wanted + others;
    const std::int64_t given = std::max<std::int64_t>(available_threads(most) - others, 1);
    if (given >= wanted && !more) return;
    // Never deleted: without the limit, oneTBB would start more.
    [[maybe_unused]] static const auto* const limit =
        new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(given));
    if (given == 1) return;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    std::atomic<std::int64_t> started = 0;
    const auto wait_for_all = [&](std::int64_t) {
        ++started;
        while (started < given && std::chrono::steady_clock::now() < latest) std::this_thread::yield();
    };
    tbb::task_group_context own(tbb::task_group_context::isolated);
    tbb::task_arena(static_cast<int>(given)).execute([&] {
        tbb::parallel_for(std::int64_t{0}, given, wait_for_all, tbb::simple_partitioner(), own);
    });
}

}  // namespace cornerturn
