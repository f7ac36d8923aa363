// A cell of the multiplications' bench on the GPU: timed in turn, and verified after that.
#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_gemm.hpp"
#include "lab/bench_gemm.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"

namespace cornerturn::lab {
namespace {

class cuda_gemm_bench : public gemm_bencher {
public:
    device_info device() const override { return machine_.info(); }
    double peak_flops() const override { return machine_.peak_flops(); }

    gemm_bench_result run(const gemm_cell& cell, const gemm_bench_report& what) override {
        gemm_bench_result r{.cell = cell};
        r.yardstick.kernel = what.yardstick->id;
        r.subject.kernel = what.subject->id;
        gemm_shape shape = cell.shape.checked();
        shape.seed = what.seed;
        const gemm_work sizes = shape.work(nullptr, nullptr, nullptr, nullptr);
        const std::int64_t workspace = what.subject->workspace(backend::cuda, sizes);
        const std::int64_t floats = shape.a_span() + shape.b_span() + shape.c_span() + workspace;
        const auto bytes = static_cast<std::int64_t>(sizeof(float));
        r.skipped = machine_.lacks_memory(floats * bytes + timer_.flush_bytes() + (64 << 20));
        if (!r.skipped.empty()) return r;

        device::set_current_stream(timer_.stream());
        device::cuda_gemm problem(shape, workspace, timer_.stream());
        problem.prepare();
        const timing_method how = method_for((shape.a_span() + shape.b_span() + shape.c_span()) * bytes, what.warm);
        r.method = how.text();
        std::vector<work_function> prepared;
        std::vector<gemm_entry*> entered;
        const auto enter = [&](const kernel& k, gemm_entry& entry) {
            entry.skipped = machine_.cannot_run(k);
            if (!entry.skipped.empty()) return;
            const work_function work = [&problem, multiply = k.multiply(backend::cuda)] { multiply(problem.work()); };
            try {
                work();
            } catch (const unsupported& why) {
                entry.skipped = why.what();
                return;
            }
            prepared.push_back(timer_.prepare(work, how));
            entered.push_back(&entry);
        };
        enter(*what.yardstick, r.yardstick);
        enter(*what.subject, r.subject);
        if (entered.empty()) return r;
        const std::vector<timing> times = timer_.measure(prepared, how, what.seconds, what.seed);
        for (std::size_t i = 0; i < entered.size(); ++i) {
            entered[i]->time = times[i];
            problem.prepare_c();
            prepared[i]();
            entered[i]->fault = problem.check(&entered[i]->errors).fault;
        }
        return r;
    }

private:
    cuda_machine machine_;
    cuda_timer timer_;
};

}  // namespace

std::unique_ptr<gemm_bencher> cuda_gemm_bencher() { return std::make_unique<cuda_gemm_bench>(); }

}  // namespace cornerturn::lab
