#include "lab/bench.hpp"

#include <algorithm>
#include <numeric>

#include "cornerturn/error.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {

std::vector<const kernel*> bench_request::kernels(const workload& work) const {
    std::vector<const kernel*> all = {yardstick, subject};
    all.insert(all.end(), peers.begin(), peers.end());
    if (!work.writes_whole_sectors()) all.insert(all.end(), ordered.begin(), ordered.end());
    return all;
}

std::vector<bench_entry*> bench_result::entries() {
    std::vector<bench_entry*> all = {&yardstick, &subject};
    for (std::vector<bench_entry>* others : {&peers, &ordered}) {
        for (bench_entry& e : *others) all.push_back(&e);
    }
    return all;
}

std::vector<const bench_entry*> bench_result::entries() const {
    std::vector<const bench_entry*> all = {&yardstick, &subject};
    for (const std::vector<bench_entry>* others : {&peers, &ordered}) {
        for (const bench_entry& e : *others) all.push_back(&e);
    }
    return all;
}

const bench_entry& bench_result::judge() const {
    const bench_entry* best = nullptr;
    for (const bench_entry& e : ordered) {
        if (e.timed() && (best == nullptr || e.time.median_s < best->time.median_s)) best = &e;
    }
    return best != nullptr ? *best : yardstick;
}

bench_result begin_bench(const bench_cell& cell, const bench_request& what) {
    const auto entry_of = [&](const kernel& k) {
        return bench_entry{.kernel = k.id, .amount = cell.work->amount(k), .skipped = cell.work->cannot_run(k)};
    };
    bench_result r{.cell = cell};
    r.yardstick = entry_of(*what.yardstick);
    r.subject = entry_of(*what.subject);
    for (const kernel* peer : what.peers) r.peers.push_back(entry_of(*peer));
    if (cell.work->writes_whole_sectors()) return r;
    for (const kernel* copy : what.ordered) r.ordered.push_back(entry_of(*copy));
    return r;
}

std::optional<bench_regret> regret_of(problem& of, const time_in_turn& time) {
    constexpr int kFirstRounds = 5, kLastRounds = 20;
    constexpr std::size_t kBest = 3;
    const std::vector<problem::candidate> all = of.candidates();
    if (all.empty()) return std::nullopt;
    bench_regret found{.candidates = static_cast<int>(all.size()), .chosen = all.front().name, .best = {}};
    std::vector<std::function<void()>> works;
    const auto verified = [&](const problem::candidate& one) {
        of.prepare_outputs();
        one.run();
        const std::string fault = of.check().fault;
        if (!fault.empty()) found.fault = one.name + ": " + fault;
        return fault.empty();
    };
    for (const problem::candidate& one : all) {
        if (!verified(one)) return found;
        works.push_back(one.run);
    }
    const std::vector<timing> first = time(works, kFirstRounds);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return first[a].median_s < first[b].median_s; });
    order.resize(std::min(order.size(), kBest));
    if (std::find(order.begin(), order.end(), 0) == order.end()) order.push_back(0);
    works.clear();
    for (std::size_t i : order) works.push_back(all[i].run);
    const std::vector<timing> last = time(works, kLastRounds);
    const auto best = std::min_element(last.begin(), last.end(),
                                       [](const timing& a, const timing& b) { return a.median_s < b.median_s; }) -
                      last.begin();
    found.best = all[order[static_cast<std::size_t>(best)]].name;
    found.best_time = last[static_cast<std::size_t>(best)];
    found.chosen_time = last[static_cast<std::size_t>(std::find(order.begin(), order.end(), 0) - order.begin())];
    for (std::size_t i : order) {
        if (!verified(all[i])) break;
    }
    return found;
}

bool contestant::verify(const std::function<void()>& instead) {
    try {
        if (!problem_->take(*work_, *k_)) throw error("no memory was reserved for " + k_->id);
        problem_->prepare();
        bound_ = problem_->bind(*k_);
        instead ? instead() : bound_();
        entry_->fault = problem_->check(&entry_->more).fault;
    } catch (const unsupported& why) {
        entry_->skipped = why.what();
    }
    return entry_->timed();
}

#if !defined(CORNERTURN_WITH_CUDA)
std::unique_ptr<bencher> cuda_bencher() {
    std::string reason;
    cuda_available(reason);
    throw unsupported("no GPU to run on: " + reason);
}
#endif

}  // namespace cornerturn::lab
