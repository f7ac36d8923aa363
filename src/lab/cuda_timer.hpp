// Times work on the GPU: by events around launches, after a flush of the L2 cache, with contestants sampled in turn.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/result.hpp"

namespace cornerturn::lab {

// events: around the work on the GPU. wall: the host's clock, from an idle stream until it is idle again.
enum class clock_of { events, wall };

// How one sample is taken.
struct timing_method {
    int launches = 1;   // more than 1: in one CUDA graph
    bool flush = true;  // flush the L2 cache before the sample
    // Run the work once, untimed, before the sample. First reset the lines that earlier samples keep in the L2.
    bool untimed_run_first = false;
    clock_of by = clock_of::events;
    int in_a_row = 1;  // by the wall clock: calls a sample
    std::string text() const;
};

// bytes_moved: what one launch reads and writes. If a launch takes longer to start than to run, the method is many warm
// launches in a graph.
timing_method method_for(std::int64_t bytes_moved, bool warm);
// Many warm launches in a graph, however many bytes one moves.
timing_method warm_graph_for(std::int64_t bytes_moved);

// This many calls in a row, by the wall clock. The L2 is flushed before them if the other method flushes it.
timing_method wall_clock_for(const timing_method& other, int in_a_row);

// Queues the work to time on the timer's stream.
using timed_call_function = std::function<void()>;

// For the current device.
class cuda_timer {
public:
    cuda_timer();
    ~cuda_timer();
    cuda_timer(const cuda_timer&) = delete;
    cuda_timer& operator=(const cuda_timer&) = delete;

    cudaStream_t stream() const { return stream_; }
    std::int64_t flush_bytes() const { return flush_bytes_; }  // of device memory, during measure()

    // Returns what a sample calls: `call` itself, or the launch of a CUDA graph of several calls. The returned function
    // owns the graph.
    timed_call_function prepare(const timed_call_function& call, const timing_method& how) const;

    // Seconds that a launch or a call of each takes, sampled in turn (lab/statistics.hpp). By the wall clock, one that
    // has used a second, or twice samples.seconds if that is longer, is not sampled again.
    std::vector<timing> measure(const std::vector<timed_call_function>& prepared, const timing_method& how,
                                const sampling& samples, std::uint64_t seed) const;

private:
    double by_events(const timed_call_function& call, const timing_method& how) const;
    double by_wall_clock(const timed_call_function& call, const timing_method& how) const;
    void flush(void* memory) const;
    void reset_kept_lines() const;

    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    std::int64_t flush_bytes_ = 0;
    bool persisting_l2_ = false;
};

}  // namespace cornerturn::lab
