// How many threads oneTBB may start.
#pragma once

#include <tbb/global_control.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "core/parallel.hpp"

namespace cornerturn {

// Call this before host kernels run on all cores. `others`: threads that the caller has yet to start. Where the system
// gives fewer threads than cores, oneTBB is limited to those. A thread that is refused to a worker of oneTBB's ends the
// program; only one that is refused to the caller is an exception, which on_threads() (host/job.hpp) catches.
inline void limit_host_threads(std::int64_t others = 0) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t given = available_threads(cores + others) - others;
    if (given >= cores) return;
    // Until the program ends: oneTBB starts more as soon as a limit goes.
    [[maybe_unused]] static const auto* const limit = new tbb::global_control(
        tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(std::max<std::int64_t>(given, 1)));
}

}  // namespace cornerturn
