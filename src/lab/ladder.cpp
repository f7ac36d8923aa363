#include "lab/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cornerturn/error.hpp"

namespace cornerturn::lab {
namespace {

std::string family_of(const kernel& k) { return k.id.substr(0, k.id.find('/')); }

// Families that have a ladder of their own, by what their kernels do.
constexpr const char* kLadders[] = {"transpose", "gemm"};

}  // namespace

std::vector<const kernel*> ladder_of(const std::string& family) {
    if (std::find(std::begin(kLadders), std::end(kLadders), family) == std::end(kLadders)) {
        throw invalid_argument(fmt::format("no ladder is called '{}'; there is {}", family, fmt::join(kLadders, ", ")));
    }
    std::vector<const kernel*> rungs;
    for (const kernel& k : kernels()) {
        const std::string its = family_of(k);
        if (its == family || (family == "transpose" && its == "copy")) rungs.push_back(&k);
    }
    return rungs;
}

std::string explain(const std::string& family, backend on, const matrix_work& work, int compute_capability) {
    ladder_of(family);  // or there is none
    for (const kernel& k : kernels()) {
        const bool on_host = k.run(backend::host) != nullptr;
        const bool its = on_host ? k.does == operation::transpose : family_of(k) == family;
        if (k.explain != nullptr && its && on_host == (on == backend::host))
            return fmt::format("{}: {}", k.id, k.explain(work, compute_capability));
    }
    throw invalid_argument(fmt::format("no kernel of {} has more than one way", family));
}

std::string explain(const gemm_work& work, int compute_capability, int multiprocessors) {
    for (const kernel& k : kernels()) {
        if (k.explain_product != nullptr)
            return fmt::format("{}: {}", k.id, k.explain_product(work, compute_capability, multiprocessors));
    }
    throw invalid_argument("no multiplication has more than one way");
}

std::vector<result> run_ladder(const std::vector<const kernel*>& rungs, runner& on, const request& what,
                               const std::function<void(const kernel&)>& before) {
    std::vector<result> results;
    for (const kernel* k : rungs) {
        before(*k);
        if (k->takes(what.dtype.size)) {
            results.push_back(on.run(*k, what));
            continue;
        }
        result skipped;
        skipped.kernel = k->id;
        skipped.origin = k->origin;
        skipped.dtype = what.dtype.name;
        skipped.rows = what.rows;
        skipped.cols = what.cols;
        if (k->does == operation::multiply) skipped.k = what.k;
        skipped.device = on.device();
        skipped.skipped = fmt::format("does not take {}-byte elements", what.dtype.size);
        results.push_back(std::move(skipped));
    }
    return results;
}

}  // namespace cornerturn::lab
