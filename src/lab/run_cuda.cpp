// Runs a kernel on the GPU, verifies it there, and times it beside the yardstick.
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

// Marks the launches in its scope with the kernel's id, for a profiler (lab/hardware.hpp). Without a profiler it costs
// nothing.
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

    result run(const kernel& k, const run_request& request) override {
        result r = begin_result(k, request);
        r.device = machine_.info();
        r.skipped = machine_.why_not_run(k);
        if (!r.ran()) return r;
        device::set_current_stream(timer_.stream());
        reserve(k, request);
        return run_verified(k, request, std::move(r));
    }

private:
    // The addresses of the matrices change memcpy's time by a percent, and that of some kernels by more. So all kernels
    // of a ladder use the same memory.
    void reserve(const kernel& k, const run_request& request) {
        const workload& work = *request.work;
        if (problem_ && problem_->take(work, k)) return;
        problem_.reset();
        const std::int64_t aside = request.placement * work.aside_bytes();
        const std::string shortage =
            machine_.memory_shortage(work.gpu_bytes({&k}, true) + aside + timer_.flush_bytes());
        if (!shortage.empty()) throw error(shortage + ": choose smaller matrices");
        const device::device_memory allocated_first(aside);
        problem_ = work.op().make(backend::cuda, {&work}, {&k}, true);
    }

    // Launches the kernel, checks its output and counts its accesses. If requested, times it and checks its output
    // again.
    result run_verified(const kernel& k, const run_request& request, result r) {
        problem_->prepare();
        const timed_call_function call = problem_->bind(k);
        try {
            const profiler_mark mark(k.id);
            call();
        } catch (const unsupported& why) {
            r.skipped = why.what();
            return r;
        }
        set_verdict(r, problem_->check());
        if (request.tried && !r.failed()) {
            r.trials = run_trials(k, *request.work, backend::cuda, *problem_);
            if (!r.trials->fault.empty()) set_verdict(r, {.elements = r.checked_elements, .fault = r.trials->fault});
            problem_->take(*request.work, k);
        }
        if (request.counted) count_on_emulator(k, request, r);
        if (!r.failed() && request.timed && request.work->outputs() > 0) {
            problem_->prepare();
            r.time = measure(k, request, call);
            set_verdict(r, problem_->check());
        }
        return r;
    }

    measured_time measure(const kernel& k, const run_request& request, const timed_call_function& call) {
        const operation_facts& facts = request.work->op().facts();
        const timing_method how = method_for(request.work->bytes(), request.warm);
        const auto times = timer_.measure({timer_.prepare(call, how), timer_.prepare(problem_->bind_yardstick(), how)},
                                          how, sampling{}, request.work->seed());
        return {times[0],
                times[1],
                facts.yardstick,
                how.text(),
                request.work->amount(k),
                facts.rate,
                machine_.peak_flops(facts.rate)};
    }

    static void set_verdict(result& r, const verdict& found) {
        r.verified = found.passed() ? verification::passed : verification::failed;
        r.fault = found.fault;
        r.checked_elements = found.elements;
    }

    cuda_machine machine_;
    cuda_timer timer_;
    std::unique_ptr<problem> problem_;  // kept for the next run
};

}  // namespace

std::unique_ptr<runner> cuda_runner() { return std::make_unique<cuda_run>(); }

}  // namespace cornerturn::lab
