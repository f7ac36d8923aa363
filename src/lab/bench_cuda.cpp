// Measures cells of the bench on the GPU: verifies all kernels, times them in turn, and verifies them again.
#include <algorithm>
#include <memory>

#include "device/cuda_check.hpp"
#include "device/cuda_memory.hpp"
#include "lab/bench.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"

namespace cornerturn::lab {
namespace {

class cuda_bench : public bencher {
public:
    device_info device() const override { return machine_.info(); }
    double peak_flops(const rate_unit& rate) const override { return machine_.peak_flops(rate); }

    void expect(const std::vector<bench_cell>& grid, const bench_request& what) override {
        if (!what.does->facts().shares_memory) return;
        std::vector<workload_pointer> all;
        for (const bench_cell& cell : grid) all.push_back(among(cell, what));
        std::sort(all.begin(), all.end(), [&](const workload_pointer& a, const workload_pointer& b) {
            return a->gpu_bytes(what.kernels(*a), false) < b->gpu_bytes(what.kernels(*b), false);
        });
        while (!all.empty() && !reserve(*all.back(), what).empty()) all.pop_back();
    }

    bench_result run(const bench_cell& cell, const bench_request& what) override {
        bench_result r = begin_bench(cell, what);
        const workload_pointer work = among(cell, what);
        r.skipped = reserve(*work, what);
        if (!r.skipped.empty()) return r;
        const timing_method how = method(*work, what);
        r.method = how.text();
        measure(what.kernels(*work), r.entries(), *work, how, what);
        for (std::size_t i = 0; i < r.ways.size(); ++i) {
            const way_request& way = what.ways[i];
            const timing_method by_wall = wall_clock_for(how, way.in_a_row);
            r.ways[i].method = by_wall.text();
            measure({way.yardstick, way.subject}, {&r.ways[i].yardstick, &r.ways[i].subject}, *work, by_wall, what);
        }
        if (what.drawn > 0) choose(*work, what, r);
        return r;
    }

private:
    static workload_pointer among(const bench_cell& cell, const bench_request& what) {
        return cell.work->among(what.kernels(*cell.work), what.seed);
    }

    // Allocates memory for all kernels if there is not enough yet. Returns an empty string, or a sentence about the
    // missing memory. Addresses change memcpy's time by a percent, and that of some kernels by more. So all kernels
    // use the same memory.
    std::string reserve(const workload& work, const bench_request& what) {
        device::set_current_stream(timer_.stream());
        const std::vector<const kernel*> kernels = what.kernels(work);
        const auto takes = [&](const kernel* k) { return problem_->take(work, *k); };
        if (problem_ && std::all_of(kernels.begin(), kernels.end(), takes)) return {};
        const std::int64_t held = problem_ ? problem_->room() : 0, aside = what.placement * work.aside_bytes();
        std::string shortage =
            machine_.lacks_memory(work.gpu_bytes(kernels, false) + aside + timer_.flush_bytes() - held);
        if (!shortage.empty()) return shortage;
        problem_.reset();
        const device::device_memory allocated_first(aside);
        problem_ = what.does->make(backend::cuda, {&work}, kernels, false);
        return {};
    }

    static timing_method method(const workload& work, const bench_request& what) {
        return what.small ? warm_graph_for(work.bytes()) : method_for(work.bytes(), what.warm);
    }

    // Verifies these kernels, times them in turn, and verifies them again. Their entries have the failures.
    void measure(const std::vector<const kernel*>& kernels, const std::vector<bench_entry*>& entries,
                 const workload& work, const timing_method& how, const bench_request& what) const {
        std::vector<contestant> all;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            bench_entry& entry = *entries[i];
            if (entry.skipped.empty()) entry.skipped = machine_.cannot_run(*kernels[i]);
            contestant c(*kernels[i], work, *problem_, entry);
            if (entry.skipped.empty() && c.pass_trials(backend::cuda)) all.push_back(c);
        }
        // After all trials: the timed runs use the operands that verify() fills in.
        std::erase_if(all, [](contestant& c) { return !c.verify(); });
        std::vector<work_function> prepared;
        for (const contestant& c : all) prepared.push_back(timer_.prepare(c.work(), how));
        if (all.empty()) return;
        const std::vector<timing> times = timer_.measure(prepared, how, {what.seconds, what.rounds}, what.seed);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].entry().time = times[i];
            all[i].verify(prepared[i]);
        }
    }

    // Adds the library's choice and, if asked, the regret.
    void choose(const workload& work, const bench_request& what, bench_result& r) const {
        if (!r.subject.timed() || !problem_->take(work, *what.subject)) return;
        problem_->prepare();
        if (!what.regret) {
            r.choice = problem_->choice();
            return;
        }
        const timing_method how = method(work, what);
        r.regret = regret_of(*problem_, [&](const std::vector<std::function<void()>>& works, int rounds) {
            std::vector<work_function> prepared;
            for (const auto& one : works) prepared.push_back(timer_.prepare(one, how));
            return timer_.measure(prepared, how, {0, rounds}, what.seed);
        });
        r.choice = r.regret ? r.regret->chosen : problem_->choice();
    }

    cuda_machine machine_;
    cuda_timer timer_;
    std::unique_ptr<problem> problem_;  // if cells share memory, of the largest cell that fits
};

}  // namespace

std::unique_ptr<bencher> cuda_bencher() { return std::make_unique<cuda_bench>(); }

}  // namespace cornerturn::lab
