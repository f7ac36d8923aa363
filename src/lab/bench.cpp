#include "lab/bench.hpp"

#include "cornerturn/error.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {

std::vector<const kernel*> bench_request::kernels() const {
    std::vector<const kernel*> all = {yardstick, subject};
    all.insert(all.end(), peers.begin(), peers.end());
    return all;
}

std::vector<bench_entry*> bench_result::entries() {
    std::vector<bench_entry*> all = {&yardstick, &subject};
    for (bench_entry& e : peers) all.push_back(&e);
    return all;
}

std::vector<const bench_entry*> bench_result::entries() const {
    std::vector<const bench_entry*> all = {&yardstick, &subject};
    for (const bench_entry& e : peers) all.push_back(&e);
    return all;
}

bench_result begin_bench(const bench_cell& cell, const bench_request& what) {
    const auto entry_of = [&](const kernel& k) {
        return bench_entry{.kernel = k.id, .amount = cell.work->amount(k), .skipped = cell.work->cannot_run(k)};
    };
    bench_result r{.cell = cell};
    r.yardstick = entry_of(*what.yardstick);
    r.subject = entry_of(*what.subject);
    for (const kernel* peer : what.peers) r.peers.push_back(entry_of(*peer));
    return r;
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
