// Runs on the GPU: verified there, then timed beside memcpy.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <fstream>
#include <functional>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_problem.hpp"
#include "lab/run.hpp"
#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

constexpr int kLeastSamples = 20, kMostSamples = 200;
constexpr double kSecondsToSample = 0.5;
constexpr int kGraphLaunches = 100;
// Up to here a launch takes longer to start than to run: timed warm, many launches in one graph.
constexpr std::int64_t kLaunchBoundBytes = 8 << 20;

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// The driver's own version, such as "580.65.06"; the newest CUDA that it supports where Linux does not tell.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 && word.find('.') != std::string::npos) return word;
    }
    int supports = 0;
    CORNERTURN_CUDA(cudaDriverGetVersion(&supports));
    return "for CUDA " + version(supports);
}

// CUDA objects that end with their scope.
struct stream_owner {
    cudaStream_t get = nullptr;
    stream_owner() { CORNERTURN_CUDA(cudaStreamCreateWithFlags(&get, cudaStreamNonBlocking)); }
    ~stream_owner() { cudaStreamDestroy(get); }
    stream_owner(const stream_owner&) = delete;
    stream_owner& operator=(const stream_owner&) = delete;
};
struct event_owner {
    cudaEvent_t get = nullptr;
    event_owner() { CORNERTURN_CUDA(cudaEventCreate(&get)); }
    ~event_owner() { cudaEventDestroy(get); }
    event_owner(const event_owner&) = delete;
    event_owner& operator=(const event_owner&) = delete;
};
struct memory_owner {
    void* get = nullptr;
    explicit memory_owner(std::int64_t bytes) { CORNERTURN_CUDA(cudaMalloc(&get, static_cast<std::size_t>(bytes))); }
    ~memory_owner() { cudaFree(get); }
    memory_owner(const memory_owner&) = delete;
    memory_owner& operator=(const memory_owner&) = delete;
};

using work_function = std::function<void()>;

class cuda_run : public runner {
public:
    cuda_run() {
        CORNERTURN_CUDA(cudaGetDevice(&device_));
        cudaDeviceProp properties;
        CORNERTURN_CUDA(cudaGetDeviceProperties(&properties, device_));
        info_.kind = "cuda";
        info_.name = properties.name;
        capability_ = properties.major * 10 + properties.minor;
        flush_bytes_ = 2 * std::int64_t{properties.l2CacheSize};
        int runtime = 0;
        CORNERTURN_CUDA(cudaRuntimeGetVersion(&runtime));
        info_.driver = driver_version();
        info_.cuda = version(runtime);
    }

    device_info device() const override { return info_; }

    result run(const kernel& k, const request& what) override {
        result r = begin_result(k, what);
        r.device = info_;
        if (k.needs.compute_capability > capability_) {
            r.skipped = fmt::format("needs {} (compute capability {}.{}), but {} has {}.{}", k.needs.feature,
                                    k.needs.compute_capability / 10, k.needs.compute_capability % 10, info_.name,
                                    capability_ / 10, capability_ % 10);
            return r;
        }
        if (k.run(backend::cuda) == nullptr) {
            r.skipped = "is not a kernel for the GPU";
            return r;
        }
        const problem_shape shape = shape_of(k, what).checked();
        require_memory(3 * (shape.elements() * shape.element_size + (1 << 20)) + flush_bytes_);
        device::set_current_stream(stream_.get);
        device::cuda_problem problem(shape, stream_.get);
        problem.prepare();
        k.run(backend::cuda)(problem.work());
        settle(r, problem.check());
        count_on_emulator(k, what, r);
        if (!r.failed() && what.timed && shape.elements() > 0) {
            problem.prepare_destination();
            r.time = measure(
                problem, [&] { k.run(backend::cuda)(problem.work()); }, what.warm);
            settle(r, problem.check());
        }
        return r;
    }

private:
    static void settle(result& r, const verdict& found) {
        r.verified = found.passed() ? verification::passed : verification::failed;
        r.fault = found.fault;
        r.checked_elements = found.elements;
    }

    void require_memory(std::int64_t bytes) const {
        std::size_t free = 0, total = 0;
        CORNERTURN_CUDA(cudaMemGetInfo(&free, &total));
        if (static_cast<std::size_t>(bytes) > free) {
            throw error(fmt::format(
                "{} has {:.1f} GB of memory free, and this run needs {:.1f} GB: choose fewer rows or columns",
                info_.name, static_cast<double>(free) / 1e9, static_cast<double>(bytes) / 1e9));
        }
    }

    measured_time measure(const device::cuda_problem& problem, const work_function& kernel, bool warm) {
        const problem_shape& shape = problem.shape();
        const std::int64_t bytes = shape.elements() * shape.element_size;
        const memory_owner scratch(bytes);
        const void* const source = problem.work().source;
        const work_function copy = [&] {
            CORNERTURN_CUDA(cudaMemcpyAsync(scratch.get, source, static_cast<std::size_t>(bytes),
                                            cudaMemcpyDeviceToDevice, stream_.get));
        };
        measured_time time;
        time.bytes = 2 * bytes;
        time.yardstick_what = "memcpy";
        if (time.bytes <= kLaunchBoundBytes) {
            time.method = fmt::format("warm, CUDA graph of {} launches", kGraphLaunches);
            measure_interleaved(in_graph(kernel), in_graph(copy), kGraphLaunches, false, time);
        } else {
            time.method = warm ? "warm, single launches" : "L2 flushed, single launches";
            measure_interleaved(kernel, copy, 1, !warm, time);
        }
        return time;
    }

    // Samples of one and the other in turn, so that both see the same clocks and the same neighbours.
    void measure_interleaved(const work_function& kernel, const work_function& yardstick, int launches, bool flush,
                             measured_time& time) {
        const memory_owner cold(flush ? flush_bytes_ : 1);
        const auto sample = [&](const work_function& work) {
            // The flush also keeps the GPU busy while the host queues the launch, so that no launch latency is timed.
            if (flush)
                CORNERTURN_CUDA(cudaMemsetAsync(cold.get, 0, static_cast<std::size_t>(flush_bytes_), stream_.get));
            CORNERTURN_CUDA(cudaEventRecord(begin_.get, stream_.get));
            work();
            CORNERTURN_CUDA(cudaEventRecord(end_.get, stream_.get));
            CORNERTURN_CUDA(cudaEventSynchronize(end_.get));
            float milliseconds = 0;
            CORNERTURN_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get, end_.get));
            return milliseconds * 1e-3 / launches;
        };
        for (int i = 0; i < 3; ++i) {
            sample(kernel);
            sample(yardstick);
        }
        std::vector<double> ours, theirs;
        const auto start = std::chrono::steady_clock::now();
        const auto elapsed = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        while (ours.size() < kLeastSamples || (ours.size() < kMostSamples && elapsed() < kSecondsToSample)) {
            theirs.push_back(sample(yardstick));
            ours.push_back(sample(kernel));
        }
        time.kernel = summarize(ours);
        time.yardstick = summarize(theirs);
    }

    // Captures the work kGraphLaunches times; the returned function launches the graph, and owns it.
    work_function in_graph(const work_function& work) {
        cudaGraph_t graph = nullptr;
        CORNERTURN_CUDA(cudaStreamBeginCapture(stream_.get, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < kGraphLaunches; ++i) work();
        CORNERTURN_CUDA(cudaStreamEndCapture(stream_.get, &graph));
        cudaGraphExec_t executable = nullptr;
        CORNERTURN_CUDA(cudaGraphInstantiate(&executable, graph, 0));
        cudaGraphDestroy(graph);
        const std::shared_ptr<CUgraphExec_st> owner(executable, [](cudaGraphExec_t g) { cudaGraphExecDestroy(g); });
        return [this, owner] { CORNERTURN_CUDA(cudaGraphLaunch(owner.get(), stream_.get)); };
    }

    int device_ = 0, capability_ = 0;
    std::int64_t flush_bytes_ = 0;
    device_info info_;
    stream_owner stream_;
    event_owner begin_, end_;
};

}  // namespace

bool cuda_available(std::string& reason) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) return true;
    cudaGetLastError();
    reason = status == cudaSuccess ? "CUDA finds no device"
                                   : fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
    return false;
}

std::unique_ptr<runner> cuda_runner() {
    std::string reason;
    if (!cuda_available(reason)) throw unsupported("no GPU to run on: " + reason);
    return std::make_unique<cuda_run>();
}

}  // namespace cornerturn::lab
