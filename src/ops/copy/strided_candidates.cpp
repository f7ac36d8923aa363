#include "ops/copy/strided_candidates.hpp"

#include <set>

namespace cornerturn {

std::vector<named_choice> distinct_choices(const strided_copy& c, const gpu& on) {
    std::vector<named_choice> all;
    if (c.runs() > strided::kMostRuns) return all;
    std::set<std::string> cuts;
    for (const strided::choice& one : strided::choices(c, on)) {
        const std::string text = strided::explain(one, c, on);
        // Different wishes may give the same cut.
        if (cuts.insert(text.substr(0, text.rfind(", predicted"))).second) all.push_back({one, text});
    }
    return all;
}

std::vector<problem::candidate> strided_candidates(const strided_copy& c, const gpu& on,
                                                   void (*run)(const strided::plan&)) {
    std::vector<problem::candidate> all;
    if (c.is_empty()) return all;
    for (const named_choice& one : distinct_choices(c, on))
        all.push_back({one.text, [run, plan = strided::work_out(one.what, c, on)] { run(plan); }});
    return all;
}

}  // namespace cornerturn
