// How many threads oneTBB may start.
#pragma once

#include <tbb/global_control.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "core/parallel.hpp"

namespace cornerturn {

// To be called before host kernels run on all cores, while so many other threads are still to be started. oneTBB starts
// one for each other core; where the system gives fewer, it gets no more than those: one that was refused would end the
// program.
inline void limit_host_threads(std::int64_t others = 0) {
    const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::int64_t given = available_threads(cores + others) - others;
    if (given >= cores) return;
    // Until the program ends: oneTBB starts more as soon as a limit goes.
    [[maybe_unused]] static const auto* const limit = new tbb::global_control(
        tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(std::max<std::int64_t>(given, 1)));
}

}  // namespace cornerturn
