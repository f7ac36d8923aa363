// Runs on the GPU: verified there, then timed beside memcpy.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_gemm.hpp"
#include "device/cuda_problem.hpp"
#include "lab/cuda_machine.hpp"
#include "lab/cuda_timer.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {
namespace {

constexpr double kSecondsToSample = 0.5;

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
        if (k.does == operation::multiply) return multiply(k, what, std::move(r));
        const problem_shape shape = shape_of(k, what).checked();
        place(shape, what.placement);
        return run_verified(
            k, what, std::move(r), *problem_, [&] { k.run(backend::cuda)(problem_->work()); },
            &device::cuda_problem::prepare_destination);
    }

private:
    // Where in memory matrices and their copy lie is worth a percent to memcpy, and more to some kernels: all of a
    // ladder have the same place.
    void place(const problem_shape& shape, int placement) {
        if (problem_ && problem_->reshape(shape)) return;
        problem_.reset();
        copy_.reset();
        const std::int64_t bytes = shape.elements() * shape.element_size;
        const std::string lack =
            machine_.lacks_memory((3 + 2 * placement) * (bytes + (4 << 20)) + timer_.flush_bytes());
        if (!lack.empty()) throw error(lack + ": choose fewer rows or columns");
        const device_memory aside(2 * placement * bytes);
        problem_ = std::make_unique<device::cuda_problem>(shape, timer_.stream());
        copy_ = std::make_unique<device_memory>(bytes);
    }

    result multiply(const kernel& k, const request& what, result r) {
        const gemm_shape shape = product_of(what).checked();
        const std::int64_t workspace = k.workspace(backend::cuda, shape.work(nullptr, nullptr, nullptr, nullptr));
        const std::int64_t floats = shape.a_span() + shape.b_span() + 2 * shape.c_span() + workspace;
        const std::string lack = machine_.lacks_memory(floats * static_cast<std::int64_t>(sizeof(float)) + (32 << 20) +
                                                       timer_.flush_bytes());
        if (!lack.empty()) throw error(lack + ": choose smaller matrices");
        device::cuda_gemm problem(shape, workspace, timer_.stream());
        return run_verified(
            k, what, std::move(r), problem, [&] { k.multiply(backend::cuda)(problem.work()); },
            &device::cuda_gemm::prepare_c);
    }

    // Launches it, checks and counts what it did, and, if asked, times it and checks again.
    template <class Problem>
    result run_verified(const kernel& k, const request& what, result r, Problem& problem, const work_function& work,
                        void (Problem::*prepare_again)()) {
        device::set_current_stream(timer_.stream());
        problem.prepare();
        try {
            const profiler_mark mark(k.id);
            work();
        } catch (const unsupported& why) {
            r.skipped = why.what();
            return r;
        }
        settle(r, problem.check());
        if (what.counted) count_on_emulator(k, what, r);
        if (!r.failed() && what.timed && problem.shape().elements() > 0) {
            (problem.*prepare_again)();
            r.time = measure(problem, work, what);
            settle(r, problem.check());
        }
        return r;
    }

    measured_time measure(const device::cuda_gemm& problem, const work_function& kernel, const request& what) {
        const gemm_shape& s = problem.shape();
        const device_memory scratch(s.c_span() * static_cast<std::int64_t>(sizeof(float)));
        gemm_work beside = problem.work();
        beside.c = static_cast<float*>(scratch.get);
        const cornerturn::kernel& cublas = find_kernel("gemm/cublas");
        const work_function yardstick = [&] { cublas.multiply(backend::cuda)(beside); };
        const timing_method how =
            method_for((s.a_span() + s.b_span() + s.c_span()) * static_cast<std::int64_t>(sizeof(float)), what.warm);
        const auto times = timer_.measure({timer_.prepare(kernel, how), timer_.prepare(yardstick, how)}, how,
                                          kSecondsToSample, what.seed);
        const double operations = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
        return {times[0], times[1], "cublasSgemm", how.text(), operations, kArithmetic, machine_.peak_flops()};
    }

    static void settle(result& r, const verdict& found) {
        r.verified = found.passed() ? verification::passed : verification::failed;
        r.fault = found.fault;
        r.checked_elements = found.elements;
    }

    measured_time measure(const device::cuda_problem& problem, const work_function& kernel, const request& what) {
        const problem_shape& shape = problem.shape();
        const std::int64_t bytes = shape.elements() * shape.element_size;
        const void* const source = problem.work().source;
        const work_function copy = [&] {
            CORNERTURN_CUDA(cudaMemcpyAsync(copy_->get, source, static_cast<std::size_t>(bytes),
                                            cudaMemcpyDeviceToDevice, timer_.stream()));
        };
        const timing_method how = method_for(2 * bytes, what.warm);
        const auto times =
            timer_.measure({timer_.prepare(kernel, how), timer_.prepare(copy, how)}, how, kSecondsToSample, what.seed);
        return {times[0], times[1], "memcpy", how.text(), 2.0 * static_cast<double>(bytes)};
    }

    cuda_machine machine_;
    cuda_timer timer_;
    std::unique_ptr<device::cuda_problem> problem_;  // the last ladder's
    std::unique_ptr<device_memory> copy_;            // as large: what memcpy writes
};

}  // namespace

std::unique_ptr<runner> cuda_runner() { return std::make_unique<cuda_run>(); }

}  // namespace cornerturn::lab
