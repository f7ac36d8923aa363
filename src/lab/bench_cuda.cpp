// A cell of the bench on the GPU: everyone verified, timed in turn, and verified again.
#include <algorithm>
#include <memory>

#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_problem.hpp"
#include "lab/bench.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"

namespace cornerturn::lab {
namespace {

// A kernel, what it moves, and its line in the result. All move what lies in one place: where that is makes a
// difference of a percent to memcpy, and more to some kernels.
struct contestant {
    const kernel& k;
    problem_shape shape;
    device::cuda_problem& problem;
    bench_entry& entry;
    matrix_work moved = {};
    work_function timed = {};

    void work() const { k.run(backend::cuda)(moved); }

    // Runs it, or what was timed, and checks every element.
    void verify() {
        problem.reshape(shape);  // there is room: place()
        problem.prepare();
        moved = problem.work();
        timed ? timed() : work();
        entry.fault = problem.check().fault;
    }
};

class cuda_bench : public bencher {
public:
    device_info device() const override { return machine_.info(); }

    void expect(const std::vector<bench_cell>& grid, const bench_request& what) override {
        std::vector<bench_shapes> all;
        for (const bench_cell& cell : grid) all.push_back(shapes_of(cell, what));
        const auto less = [](const bench_shapes& a, const bench_shapes& b) { return a.bytes() < b.bytes(); };
        std::sort(all.begin(), all.end(), less);
        while (!all.empty() && !place(all.back(), what).empty()) all.pop_back();
    }

    bench_result run(const bench_cell& cell, const bench_request& what) override {
        bench_result r = begin_bench(cell, what);
        const bench_shapes moved = shapes_of(cell, what);
        r.skipped = place(moved, what);
        if (!r.skipped.empty()) return r;
        device::set_current_stream(timer_.stream());
        std::vector<contestant> all;
        const auto enter = [&](const kernel& k, bench_entry& entry) {
            contestant c{k, k.does == operation::copy ? moved.copy : moved.matrix, *problem_, entry};
            if (admit(c)) all.push_back(c);
        };
        enter(*what.yardstick, r.yardstick);
        enter(*what.subject, r.subject);
        for (std::size_t i = 0; i < what.peers.size(); ++i) enter(*what.peers[i], r.peers[i]);
        measure(all, cell, what, r);
        return r;
    }

private:
    // Takes memory for both, where there is not enough yet. Empty, or a sentence on what lacks.
    std::string place(const bench_shapes& s, const bench_request& what) {
        if (problem_ && problem_->reshape(s.copy) && problem_->reshape(s.matrix)) return {};
        const std::int64_t held = problem_ ? problem_->room() : 0;
        const std::int64_t needed = (1 + what.placement) * s.bytes() + timer_.flush_bytes() + (16 << 20);
        std::string lack = machine_.lacks_memory(needed - held);
        if (!lack.empty()) return lack;
        problem_.reset();
        const device_memory aside(what.placement * s.bytes());
        problem_ = std::make_unique<device::cuda_problem>(s.matrix, timer_.stream(), std::vector{s.copy});
        return {};
    }

    // False, and its entry says why, where it cannot run here or what it does is wrong.
    bool admit(contestant& c) const {
        if (c.entry.skipped.empty()) c.entry.skipped = machine_.cannot_run(c.k);
        if (!c.entry.skipped.empty()) return false;
        try {
            c.verify();
        } catch (const unsupported& why) {
            c.entry.skipped = why.what();
        }
        return c.entry.timed();
    }

    void measure(std::vector<contestant>& all, const bench_cell& cell, const bench_request& what,
                 bench_result& r) const {
        const timing_method how = method_for(cell.bytes(), what.warm);
        r.method = how.text();
        std::vector<work_function> prepared;
        for (contestant& c : all) {
            c.timed = timer_.prepare([&c] { c.work(); }, how);
            prepared.push_back(c.timed);
        }
        const std::vector<timing> times = timer_.measure(prepared, how, what.seconds, what.seed);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].entry.time = times[i];
            all[i].verify();
        }
    }

    cuda_machine machine_;
    cuda_timer timer_;
    std::unique_ptr<device::cuda_problem> problem_;  // the largest cell's that there is memory for: a place for all
};

}  // namespace

std::unique_ptr<bencher> cuda_bencher() { return std::make_unique<cuda_bench>(); }

}  // namespace cornerturn::lab
