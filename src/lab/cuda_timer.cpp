#include "lab/cuda_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "device/cuda_check.hpp"
#include "device/cuda_memory.hpp"
#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

constexpr int kGraphLaunches = 100, kLargeGraphLaunches = 20;
// Up to here, a launch takes longer to start than to run.
constexpr std::int64_t kLaunchBoundBytes = 8 << 20;

}  // namespace

std::string timing_method::text() const {
    if (by == clock_of::wall) {
        const std::string calls = in_a_row == 1 ? "one call" : fmt::format("{} calls in a row", in_a_row);
        return fmt::format("wall clock, {}, {}", flush ? "L2 flushed" : "warm", calls);
    }
    if (launches > 1)
        return fmt::format("warm, CUDA graph of {} launches{}", launches,
                           untimed_run_first ? ", after one that is not timed" : "");
    return flush ? "L2 flushed, single launches" : "warm, single launches";
}

timing_method method_for(std::int64_t bytes_moved, bool warm) {
    if (bytes_moved <= kLaunchBoundBytes) return {.launches = kGraphLaunches, .flush = false};
    return {.launches = 1, .flush = !warm};
}

timing_method warm_graph_for(std::int64_t bytes_moved) {
    return {.launches = bytes_moved <= kLaunchBoundBytes ? kGraphLaunches : kLargeGraphLaunches,
            .flush = false,
            .untimed_run_first = true};
}

timing_method wall_clock_for(const timing_method& other, int in_a_row) {
    return {.flush = other.flush, .by = clock_of::wall, .in_a_row = in_a_row};
}

cuda_timer::cuda_timer() {
    int device = 0, l2_bytes = 0, persisting = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&persisting, cudaDevAttrMaxPersistingL2CacheSize, device));
    flush_bytes_ = 2 * std::int64_t{l2_bytes};
    persisting_l2_ = persisting > 0;
    CORNERTURN_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    CORNERTURN_CUDA(cudaEventCreate(&begin_));
    CORNERTURN_CUDA(cudaEventCreate(&end_));
}

cuda_timer::~cuda_timer() {
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    cudaStreamDestroy(stream_);
}

timed_call_function cuda_timer::prepare(const timed_call_function& call, const timing_method& how) const {
    if (how.launches == 1) return call;
    cudaGraph_t graph = nullptr;
    CORNERTURN_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < how.launches; ++i) call();
    CORNERTURN_CUDA(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t executable = nullptr;
    const cudaError_t made = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    CORNERTURN_CUDA(made);
    const std::shared_ptr<CUgraphExec_st> owner(executable, [](cudaGraphExec_t g) { cudaGraphExecDestroy(g); });
    return [stream = stream_, owner] { CORNERTURN_CUDA(cudaGraphLaunch(owner.get(), stream)); };
}

// Kernels may leave lines that the L2 evicts last. These slow down later work in the L2.
void cuda_timer::reset_kept_lines() const {
    if (persisting_l2_) CORNERTURN_CUDA(cudaCtxResetPersistingL2Cache());
}

void cuda_timer::flush(void* memory) const {
    reset_kept_lines();  // so that the memset evicts them
    // The memset also keeps the GPU busy while the host queues the launch, so that no launch latency is timed.
    CORNERTURN_CUDA(cudaMemsetAsync(memory, 0, static_cast<std::size_t>(flush_bytes_), stream_));
}

double cuda_timer::by_events(const timed_call_function& call, const timing_method& how) const {
    CORNERTURN_CUDA(cudaEventRecord(begin_, stream_));
    call();
    CORNERTURN_CUDA(cudaEventRecord(end_, stream_));
    CORNERTURN_CUDA(cudaEventSynchronize(end_));
    float milliseconds = 0;
    CORNERTURN_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3 / how.launches;
}

double cuda_timer::by_wall_clock(const timed_call_function& call, const timing_method& how) const {
    CORNERTURN_CUDA(cudaStreamSynchronize(stream_));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < how.in_a_row; ++i) call();
    CORNERTURN_CUDA(cudaStreamSynchronize(stream_));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / how.in_a_row;
}

std::vector<timing> cuda_timer::measure(const std::vector<timed_call_function>& prepared, const timing_method& how,
                                        const sampling& samples, std::uint64_t seed) const {
    const device::device_memory cold(how.flush ? flush_bytes_ : 1);
    const auto sample = [&](const timed_call_function& call) {
        if (how.flush) flush(cold.get);
        if (how.untimed_run_first) {
            reset_kept_lines();
            call();
        }
        return how.by == clock_of::wall ? by_wall_clock(call, how) : by_events(call, how);
    };
    // `patience` is in seconds per call, because a sample is. Without the division, samples of many long calls would
    // take minutes.
    const double patience = how.by == clock_of::wall ? std::max(1.0, 2 * samples.seconds) / how.in_a_row
                                                     : std::numeric_limits<double>::infinity();
    return sample_in_turn(
        prepared.size(), samples, seed, [&](std::size_t i) { return sample(prepared[i]); }, patience);
}

}  // namespace cornerturn::lab
