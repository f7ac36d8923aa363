#include "lab/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cornerturn::lab {

std::vector<const kernel*> ladder_of(const operation& op) {
    const auto& families = op.facts().families;
    std::vector<const kernel*> rungs;
    for (const kernel& k : kernels()) {
        const std::string family = k.id.substr(0, k.id.find('/'));
        if (k.facts.is_rung && std::find(families.begin(), families.end(), family) != families.end())
            rungs.push_back(&k);
    }
    return rungs;
}

std::vector<result> run_ladder(const std::vector<const kernel*>& rungs, runner& on, const run_request& request,
                               const std::function<void(const kernel&)>& before) {
    std::vector<result> results;
    for (const kernel* k : rungs) {
        before(*k);
        if (const int size = request.work->type().size; k->takes(size)) {
            results.push_back(on.run(*k, request));
        } else {
            result skipped;
            skipped.kernel = k->id;
            skipped.origin = k->facts.origin;
            skipped.work = request.work;
            skipped.device = on.device();
            skipped.skipped = fmt::format("does not take {}-byte elements", size);
            results.push_back(std::move(skipped));
        }
    }
    return results;
}

}  // namespace cornerturn::lab
