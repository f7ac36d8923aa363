// How many threads oneTBB may start.
#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "core/parallel.hpp"

namespace cornerturn {

// The most threads that oneTBB shares work among, in the whole process.
inline std::int64_t allowed_threads() {
    return static_cast<std::int64_t>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

// Where memory is limited: for oneTBB itself, and what its threads allocate.
constexpr std::size_t kKeptFromThreads = 32 << 20;

// oneTBB ends the process if the system refuses one of its workers a thread. So where the system gives fewer threads
// than oneTBB would start, this limits oneTBB to that number until the process ends, and has it start them now, before
// anything else takes them, or the memory for them. Threads that oneTBB has already are not counted: it may be limited
// to fewer than it could have. The host library calls this before it shares work out. Call it before oneTBB runs
// anything else. `others`: threads that the caller will start later.
inline void limit_host_threads(std::int64_t others = 0) {
    const std::int64_t wanted = allowed_threads();
    const bool of_memory = limits_memory();
    void* volatile kept = of_memory ? std::malloc(kKeptFromThreads) : nullptr;  // volatile: it is not to be left out
    const bool any = !of_memory || kept != nullptr;
    const std::int64_t given = any ? std::max<std::int64_t>(available_threads(wanted + others) - others, 1) : 1;
    std::free(kept);
    if (given >= wanted && !of_memory) return;
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
