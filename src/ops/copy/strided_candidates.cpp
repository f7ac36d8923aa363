#include "ops/copy/strided_candidates.hpp"

#include <set>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn {

std::vector<problem::candidate> strided_candidates(const strided_copy& c, const gpu& on,
                                                   void (*run)(const strided::plan&)) {
    std::vector<problem::candidate> all;
    if (c.is_empty() || c.runs() > strided::kMostRuns) return all;
    std::set<std::string> cuts;
    for (const strided::choice& one : strided::choices(c, on)) {
        const std::string text = strided::explain(one, c, on);
        // Wishes that differ may end in the same cut.
        if (!cuts.insert(text.substr(0, text.rfind(", predicted"))).second) continue;
        all.push_back({text, [run, plan = strided::work_out(one, c, on)] { run(plan); }});
    }
    return all;
}

}  // namespace cornerturn
