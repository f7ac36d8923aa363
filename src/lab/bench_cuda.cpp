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

    void expect(const std::vector<bench_cell>& grid, const bench_request& request) override {
        if (!request.op->facts().shares_memory) return;
        std::vector<workload_pointer> all;
        for (const bench_cell& cell : grid) all.push_back(among(cell, request));
        std::sort(all.begin(), all.end(), [&](const workload_pointer& a, const workload_pointer& b) {
            return a->gpu_bytes(request.kernels(*a), false) < b->gpu_bytes(request.kernels(*b), false);
        });
        while (!all.empty() && !reserve(*all.back(), request).empty()) all.pop_back();
    }

    bench_result run(const bench_cell& cell, const bench_request& request) override {
        bench_result r = begin_bench(cell, request);
        const workload_pointer work = among(cell, request);
        r.skipped = reserve(*work, request);
        if (!r.skipped.empty()) return r;
        const timing_method how = method(*work, request);
        r.method = how.text();
        measure(request.kernels(*work), r.entries(), *work, how, request);
        for (std::size_t i = 0; i < r.ways.size(); ++i) {
            const way_request& way = request.ways[i];
            const timing_method by_wall = wall_clock_for(how, way.in_a_row);
            r.ways[i].method = by_wall.text();
            measure({way.yardstick, way.subject}, {&r.ways[i].yardstick, &r.ways[i].subject}, *work, by_wall, request);
        }
        if (request.random_cells > 0) choose(*work, request, r);
        return r;
    }

private:
    static workload_pointer among(const bench_cell& cell, const bench_request& request) {
        return cell.work->among(request.kernels(*cell.work), request.seed);
    }

    // Allocates memory for all kernels if there is not enough yet. Returns an empty string, or a sentence about the
    // missing memory. Addresses change memcpy's time by a percent, and that of some kernels by more. So all kernels
    // use the same memory.
    std::string reserve(const workload& work, const bench_request& request) {
        device::set_current_stream(timer_.stream());
        const std::vector<const kernel*> kernels = request.kernels(work);
        const auto takes = [&](const kernel* k) { return problem_->take(work, *k); };
        if (problem_ && std::all_of(kernels.begin(), kernels.end(), takes)) return {};
        const std::int64_t held = problem_ ? problem_->capacity() : 0, aside = request.placement * work.aside_bytes();
        std::string shortage =
            machine_.memory_shortage(work.gpu_bytes(kernels, false) + aside + timer_.flush_bytes() - held);
        if (!shortage.empty()) return shortage;
        problem_.reset();
        const device::device_memory allocated_first(aside);
        problem_ = request.op->make(backend::cuda, {&work}, kernels, false);
        return {};
    }

    static timing_method method(const workload& work, const bench_request& request) {
        return request.small ? warm_graph_for(work.bytes()) : method_for(work.bytes(), request.warm);
    }

    // Verifies these kernels, times them in turn, and verifies them again. Their entries have the failures.
    void measure(const std::vector<const kernel*>& kernels, const std::vector<bench_entry*>& entries,
                 const workload& work, const timing_method& how, const bench_request& request) const {
        std::vector<contestant> all;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            bench_entry& entry = *entries[i];
            if (entry.skipped.empty()) entry.skipped = machine_.why_not_run(*kernels[i]);
            contestant c(*kernels[i], work, *problem_, entry);
            if (entry.skipped.empty() && c.run_trials(backend::cuda)) all.push_back(c);
        }
        // After all trials: the timed runs use the operands that verify() fills in.
        std::erase_if(all, [](contestant& c) { return !c.verify(); });
        std::vector<timed_call_function> prepared;
        for (const contestant& c : all) prepared.push_back(timer_.prepare(c.call(), how));
        if (all.empty()) return;
        const std::vector<timing> times =
            timer_.measure(prepared, how, {request.seconds, request.rounds}, request.seed);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].entry().time = times[i];
            all[i].verify(prepared[i]);
        }
    }

    // Adds the library's choice and, if requested, the regret.
    void choose(const workload& work, const bench_request& request, bench_result& r) const {
        if (!r.subject.timed() || !problem_->take(work, *request.subject)) return;
        problem_->prepare();
        if (!request.regret) {
            r.choice = problem_->choice();
            return;
        }
        const timing_method how = method(work, request);
        r.regret = regret_of(*problem_, [&](const std::vector<std::function<void()>>& calls, int rounds) {
            std::vector<timed_call_function> prepared;
            for (const auto& one : calls) prepared.push_back(timer_.prepare(one, how));
            return timer_.measure(prepared, how, {0, rounds}, request.seed);
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
