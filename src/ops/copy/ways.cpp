#include "ops/copy/ways.hpp"

namespace cornerturn {

std::vector<problem::candidate> ways_of(const strided_copy& c, const gpu& on, void (*run)(const moves::plan&)) {
    std::vector<problem::candidate> all;
    // Of a conversion, elements count, not runs.
    const std::int64_t in_run = c.converts() ? c.run / c.unit() : 1;
    if (c.runs() > moves::kMostRuns / in_run) return all;
    for (const moves::candidate& one : moves::candidates(c, on)) {
        if (one.by == moves::kernel_family::nothing) continue;
        all.push_back({moves::text_of(one, c, on), [run, plan = moves::work_out(one, c, on)] { run(plan); },
                       one.cost * 1e-6, moves::counts_of(one, c, on)});
    }
    return all;
}

}  // namespace cornerturn
