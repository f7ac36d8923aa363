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
        problem.reshape(shape);
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
        std::vector<shapes> all;
        for (const bench_cell& cell : grid) all.push_back(shapes_of(cell, what));
        const auto less = [](const shapes& a, const shapes& b) { return a.bytes() < b.bytes(); };
        std::sort(all.begin(), all.end(), less);
        while (!all.empty() && !place(all.back(), what).empty()) all.pop_back();
    }

    bench_result run(const bench_cell& cell, const bench_request& what) override {
        bench_result r = begin_bench(cell, what);
        const shapes moved = shapes_of(cell, what);
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
    // What transposes of a cell move, and what copies do: half of the sectors' bytes, as whole 16-byte elements, since
    // half are read, and half written.
    struct shapes {
        problem_shape matrix, copy;

        std::int64_t bytes() const {
            return 2 * std::max({matrix.before(side::source).bytes(), matrix.before(side::destination).bytes(),
                                 copy.before(side::source).bytes()});
        }
    };
    static shapes shapes_of(const bench_cell& cell, const bench_request& what) {
        shapes s{.matrix = cell.shape.checked(),
                 .copy = problem_shape{.does = operation::copy,
                                       .rows = 1,
                                       .cols = cell.sector_bytes() / 2 / 16,
                                       .element_size = 16,
                                       .seed = what.seed}
                             .checked()};
        s.matrix.seed = what.seed;
        s.matrix.numbers = what.subject->arithmetic;
        for (const kernel* peer : what.peers) s.matrix.numbers = s.matrix.numbers || peer->arithmetic;
        return s;
    }

    // Takes memory for both, where there is not enough yet. Empty, or a sentence on what lacks.
    std::string place(const shapes& s, const bench_request& what) {
        if (problem_ && problem_->reshape(s.copy) && problem_->reshape(s.matrix)) return {};
        problem_.reset();
        std::string lack = machine_.lacks_memory((1 + what.placement) * s.bytes() + timer_.flush_bytes() + (16 << 20));
        if (!lack.empty()) return lack;
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
    std::unique_ptr<device::cuda_problem> problem_;  // the largest cell's: all others lie in its place
};

}  // namespace

std::unique_ptr<bencher> cuda_bencher() { return std::make_unique<cuda_bench>(); }

}  // namespace cornerturn::lab
