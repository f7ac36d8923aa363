// Runs on the GPU: verified there, then timed beside the yardstick.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_memory.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {
namespace {

// What is launched in its scope is for a profiler to see, under the kernel's id (lab/hardware.hpp). Costs nothing where
// none looks.
class profiler_mark {
public:
    explicit profiler_mark(const std::string& id) {
        CORNERTURN_CUDA(cudaProfilerStart());
        nvtxRangePushA(id.c_str());
    }
    ~profiler_mark() {
        nvtxRangePop();
        cudaProfilerStop();
    }
    profiler_mark(const profiler_mark&) = delete;
    profiler_mark& operator=(const profiler_mark&) = delete;
};

class cuda_run : public runner {
public:
    device_info device() const override { return machine_.info(); }

    result run(const kernel& k, const request& what) override {
        result r = begin_result(k, what);
        r.device = machine_.info();
        r.skipped = machine_.cannot_run(k);
        if (!r.ran()) return r;
        device::set_current_stream(timer_.stream());
        reserve(k, what);
        return run_verified(k, what, std::move(r));
    }

private:
    // Where in memory matrices lie is worth a percent to memcpy, and more to some kernels: all of a ladder share
    // theirs.
    void reserve(const kernel& k, const request& what) {
        const workload& work = *what.work;
        if (problem_ && problem_->take(work, k)) return;
        problem_.reset();
        const std::int64_t aside = what.placement * work.aside_bytes();
        const std::string lack = machine_.lacks_memory(work.gpu_bytes({&k}, true) + aside + timer_.flush_bytes());
        if (!lack.empty()) throw error(lack + ": choose smaller matrices");
        const device::device_memory laid_aside(aside);
        problem_ = work.does().make(backend::cuda, {&work}, {&k}, true);
    }

    // Launches it, checks and counts what it did, and, if asked, times it and checks again.
    result run_verified(const kernel& k, const request& what, result r) {
        problem_->prepare();
        const work_function work = problem_->bind(k);
        try {
            const profiler_mark mark(k.id);
            work();
        } catch (const unsupported& why) {
            r.skipped = why.what();
            return r;
        }
        settle(r, problem_->check());
        if (what.tried && !r.failed()) {
            r.trials = run_trials(k, *what.work, backend::cuda, *problem_);
            if (!r.trials->fault.empty()) settle(r, {.elements = r.checked_elements, .fault = r.trials->fault});
            problem_->take(*what.work, k);
        }
        if (what.counted) count_on_emulator(k, what, r);
        if (!r.failed() && what.timed && what.work->outputs() > 0) {
            problem_->prepare();
            r.time = measure(k, what, work);
            settle(r, problem_->check());
        }
        return r;
    }

    measured_time measure(const kernel& k, const request& what, const work_function& work) {
        const operation_facts& facts = what.work->does().facts();
        const timing_method how = method_for(what.work->bytes(), what.warm);
        const auto times = timer_.measure({timer_.prepare(work, how), timer_.prepare(problem_->bind_yardstick(), how)},
                                          how, sampling{}, what.work->seed());
        return {times[0],
                times[1],
                facts.yardstick,
                how.text(),
                what.work->amount(k),
                facts.rate,
                machine_.peak_flops(facts.rate)};
    }

    static void settle(result& r, const verdict& found) {
        r.verified = found.passed() ? verification::passed : verification::failed;
        r.fault = found.fault;
        r.checked_elements = found.elements;
    }

    cuda_machine machine_;
    cuda_timer timer_;
    std::unique_ptr<problem> problem_;  // the last ladder's
};

}  // namespace

std::unique_ptr<runner> cuda_runner() { return std::make_unique<cuda_run>(); }

}  // namespace cornerturn::lab
