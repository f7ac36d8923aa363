// The threads that share the work of a call.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/arguments.hpp"
#include "core/host_threads.hpp"
#include "cornerturn/host_options.hpp"

namespace cornerturn::host {

inline void check_options(const host_options& options) {
    if (options.threads < 0)
        refuse("options.threads", std::to_string(options.threads), "it must be 1 or more, or 0 for all cores");
}

// The most threads that oneTBB shares work among, after it was limited to those that the system gives.
inline std::int64_t limited_threads() {
    try {
        limit_host_threads();
    } catch (const std::runtime_error&) {
        return 1;  // from oneTBB, if the system gives it no thread
    }
    return allowed_threads();
}

class team {
public:
    // oneTBB prints a warning if it is asked for more threads than it may give.
    explicit team(const host_options& options)
        : most_(options.threads == 0   ? tbb::this_task_arena::max_concurrency()
                : options.threads == 1 ? 1
                                       : std::min<std::int64_t>(options.threads, allowed_threads())),
          has_own_arena_(options.threads > 1) {}

    std::int64_t most() const { return most_; }

    // Calls body(number) for each of at most so many workers. Each takes the next task until none is left. One worker
    // does without oneTBB.
    template <class Body>
    void run(std::int64_t workers, Body body) const {
        workers = std::min(workers, most_);
        if (workers > 1) workers = std::min(workers, limited_threads());
        if (workers <= 1) return body(std::int64_t{0});
        // Isolated: the work is done even if the group of tasks that the caller belongs to is cancelled.
        tbb::task_group_context own(tbb::task_group_context::isolated);
        const auto share = [&] { tbb::parallel_for(std::int64_t{0}, workers, body, tbb::simple_partitioner(), own); };
        try {
            has_own_arena_ ? tbb::task_arena(static_cast<int>(workers)).execute(share) : share();
        } catch (const std::runtime_error&) {
            body(std::int64_t{0});  // from oneTBB, if the system gives it no thread
        }
    }

private:
    std::int64_t most_;
    bool has_own_arena_;  // of as many threads as options.threads says
};

}  // namespace cornerturn::host
