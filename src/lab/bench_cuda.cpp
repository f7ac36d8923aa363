// A cell of the bench on the GPU: everyone verified, timed in turn, and verified again.
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_problem.hpp"
#include "lab/bench.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"

namespace cornerturn::lab {
namespace {

std::int64_t bytes_of(const problem_shape& s) {
    return s.after(side::source).bytes() + s.after(side::destination).bytes();
}

// A kernel, the matrices that it moves, and its line in the result.
struct contestant {
    const kernel& k;
    device::cuda_problem& problem;
    bench_entry& entry;
    work_function timed = {};

    void work() const { k.run(backend::cuda)(problem.work()); }

    // Runs it, or what was timed, and checks every element.
    void verify() {
        problem.prepare_destination();
        timed ? timed() : work();
        entry.fault = problem.check().fault;
    }
};

class cuda_bench : public bencher {
public:
    device_info device() const override { return machine_.info(); }

    bench_result run(const bench_cell& cell, const bench_request& what) override {
        bench_result r = begin_bench(cell, what);
        // Half of the sectors' bytes are read, and half written: whole 16-byte elements.
        const problem_shape bytes = problem_shape{.does = operation::copy,
                                                  .rows = 1,
                                                  .cols = cell.sector_bytes() / 2 / 16,
                                                  .element_size = 16,
                                                  .seed = what.seed}
                                        .checked();
        problem_shape matrix = cell.shape.checked();
        matrix.seed = what.seed;
        matrix.numbers = what.subject->arithmetic;
        for (const kernel* peer : what.peers) matrix.numbers = matrix.numbers || peer->arithmetic;
        r.skipped = machine_.lacks_memory(bytes_of(matrix) + bytes_of(bytes) + timer_.flush_bytes() + (16 << 20));
        if (!r.skipped.empty()) return r;

        device::set_current_stream(timer_.stream());
        device::cuda_problem matrices(matrix, timer_.stream()), copies(bytes, timer_.stream());
        matrices.prepare();
        copies.prepare();
        std::vector<contestant> all;
        const auto enter = [&](const kernel& k, bench_entry& entry) {
            contestant c{k, k.does == operation::copy ? copies : matrices, entry};
            if (admit(c)) all.push_back(c);
        };
        enter(*what.yardstick, r.yardstick);
        enter(*what.subject, r.subject);
        for (std::size_t i = 0; i < what.peers.size(); ++i) enter(*what.peers[i], r.peers[i]);
        measure(all, cell, what, r);
        return r;
    }

private:
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
};

}  // namespace

std::unique_ptr<bencher> cuda_bencher() { return std::make_unique<cuda_bench>(); }

}  // namespace cornerturn::lab
