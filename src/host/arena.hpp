// How many threads a call uses.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <string>

#include "core/arguments.hpp"
#include "cornerturn/host_options.hpp"

namespace cornerturn::host {

inline void check_options(const host_options& options) {
    if (options.threads < 0)
        refuse("options.threads", std::to_string(options.threads), "it must be 1 or more, or 0 for all cores");
}

// Calls run(threads) with the number of threads that may share its work.
template <class Run>
void in_arena(const host_options& options, Run run) {
    if (options.threads == 1) return run(1);
    if (options.threads == 0) return run(tbb::this_task_arena::max_concurrency());
    // oneTBB prints a warning if it is asked for more threads than it may give.
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(options.threads), allowed));
    tbb::task_arena(threads).execute([&] { run(threads); });
}

}  // namespace cornerturn::host
