#include "lab/bench.hpp"

#include <algorithm>
#include <numeric>

#include "cornerturn/error.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {

std::vector<const kernel*> bench_request::kernels(const workload& work) const {
    std::vector<const kernel*> all = {yardstick, subject};
    all.insert(all.end(), peers.begin(), peers.end());
    if (!work.writes_whole_sectors()) all.insert(all.end(), ordered_copies.begin(), ordered_copies.end());
    return all;
}

std::vector<bench_entry*> bench_result::entries() {
    std::vector<bench_entry*> all = {&yardstick, &subject};
    for (std::vector<bench_entry>* others : {&peers, &ordered_copies}) {
        for (bench_entry& e : *others) all.push_back(&e);
    }
    return all;
}

std::vector<const bench_entry*> bench_result::entries() const {
    std::vector<const bench_entry*> all = {&yardstick, &subject};
    for (const std::vector<bench_entry>* others : {&peers, &ordered_copies}) {
        for (const bench_entry& e : *others) all.push_back(&e);
    }
    return all;
}

std::vector<const bench_entry*> bench_result::every_entry() const {
    std::vector<const bench_entry*> all = entries();
    for (const bench_way_result& w : ways) all.insert(all.end(), {&w.yardstick, &w.subject});
    return all;
}

const bench_entry& bench_result::reference() const {
    const bench_entry* best = nullptr;
    for (const bench_entry& e : ordered_copies) {
        if (e.timed() && (best == nullptr || e.time.median_s < best->time.median_s)) best = &e;
    }
    return best != nullptr ? *best : yardstick;
}

bench_result begin_bench(const bench_cell& cell, const bench_request& request) {
    const auto entry_of = [&](const kernel& k) {
        return bench_entry{.kernel = k.id, .amount = cell.work->amount(k), .skipped = cell.work->why_not_run(k)};
    };
    bench_result r{.cell = cell};
    r.yardstick = entry_of(*request.yardstick);
    r.subject = entry_of(*request.subject);
    for (const kernel* peer : request.peers) r.peers.push_back(entry_of(*peer));
    for (const way_request& way : request.ways)
        r.ways.push_back({.name = way.name, .yardstick = entry_of(*way.yardstick), .subject = entry_of(*way.subject)});
    if (cell.work->writes_whole_sectors()) return r;
    for (const kernel* copy : request.ordered_copies) r.ordered_copies.push_back(entry_of(*copy));
    return r;
}

std::optional<bench_regret> regret_of(problem& of, const time_in_turn& time) {
    constexpr int kFirstRounds = 3, kNextRounds = 5, kLastRounds = 20;
    constexpr double kTooSlow = 2;  // times the best one's time
    constexpr std::size_t kBest = 3;
    const std::vector<problem::candidate> offered = of.candidates();
    if (offered.empty()) return std::nullopt;
    bench_regret found{.chosen = offered.front().name, .best = {}};
    // The candidate's mistake, or empty. Throws unsupported if it declines the work.
    const auto fault_of = [&](const problem::candidate& one) {
        of.prepare_outputs();
        one.run();
        const std::string fault = of.check().fault;
        return fault.empty() ? fault : one.name + ": " + fault;
    };
    const auto time_all = [&](const std::vector<problem::candidate>& all, int rounds) {
        std::vector<std::function<void()>> calls;
        for (const problem::candidate& one : all) calls.push_back(one.run);
        return time(calls, rounds);
    };
    // Without the candidates that decline. The chosen one stays first: it must not decline.
    std::vector<problem::candidate> all;
    for (const problem::candidate& one : offered) {
        try {
            found.fault = fault_of(one);
            all.push_back(one);
        } catch (const unsupported& why) {
            if (&one == &offered.front()) found.fault = one.name + ": " + why.what();
        }
        if (!found.fault.empty()) return found;
    }
    found.candidates = static_cast<int>(all.size());
    const std::vector<timing> first = time_all(all, kFirstRounds);
    const auto quickest = [](const timing& a, const timing& b) { return a.median_s < b.median_s; };
    const double limit = kTooSlow * std::min_element(first.begin(), first.end(), quickest)->median_s;
    std::vector<std::size_t> order;  // the chosen one first
    std::vector<problem::candidate> remaining;
    for (std::size_t i = 0; i < all.size(); ++i) {
        found.all.push_back({all[i].name, first[i].median_s, all[i].predicted_s, all[i].counts});
        if (i > 0 && first[i].median_s >= limit) continue;
        order.push_back(i);
        remaining.push_back(all[i]);
    }
    const std::vector<timing> next = time_all(remaining, kNextRounds);
    for (std::size_t i = 0; i < order.size(); ++i) found.all[order[i]].median_s = next[i].median_s;
    // The best three, and after them the chosen one if it is not among them.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return found.all[a].median_s < found.all[b].median_s; });
    order.resize(std::min(order.size(), kBest));
    auto chosen = std::find(order.begin(), order.end(), 0);
    if (chosen == order.end()) chosen = order.insert(order.end(), 0);
    std::vector<problem::candidate> kept;
    for (std::size_t i : order) kept.push_back(all[i]);
    const std::vector<timing> last = time_all(kept, kLastRounds);
    for (const problem::candidate& one : kept) {
        try {
            found.fault = fault_of(one);
        } catch (const unsupported& why) {  // it did not decline before
            found.fault = one.name + ": " + why.what();
        }
        if (!found.fault.empty()) return found;
    }
    const auto best = std::min_element(last.begin(), last.end(), quickest);
    found.best = kept[static_cast<std::size_t>(best - last.begin())].name;
    found.best_time = *best;
    found.chosen_time = last[static_cast<std::size_t>(chosen - order.begin())];
    return found;
}

bool contestant::run_trials(backend on) {
    entry_->fault = lab::run_trials(*k_, *work_, on, *problem_).fault;
    return entry_->timed();
}

bool contestant::verify(const std::function<void()>& instead) {
    try {
        if (!problem_->take(*work_, *k_)) throw error("no memory was reserved for " + k_->id);
        problem_->prepare();
        call_ = problem_->bind(*k_);
        instead ? instead() : call_();
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
