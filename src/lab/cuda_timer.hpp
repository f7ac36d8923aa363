// Timing work on the GPU: events around launches, the L2 cache flushed, contestants sampled in turn.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/result.hpp"

namespace cornerturn::lab {

// By events around what the GPU does; or by the host's, from a stream where all is done until it is so again.
enum class clock_of { events, wall };

// What one sample is.
struct timing_method {
    int launches = 1;    // in one CUDA graph, if more than one
    bool flush = true;   // the L2 cache before it
    bool again = false;  // runs once untimed right before it, with no lines that an earlier sample keeps in the L2
    clock_of by = clock_of::events;
    int in_a_row = 1;  // by the wall clock: calls
    std::string text() const;
};

// By the bytes that one launch reads and writes: where it takes longer to start than to run, many warm ones in a graph.
timing_method method_for(std::int64_t bytes_moved, bool warm);
// Many warm ones in a graph, whatever one moves.
timing_method warm_graph_for(std::int64_t bytes_moved);

// So many calls in a row by the wall clock. The L2 is flushed before them where it is for the other method.
timing_method wall_clock_for(const timing_method& other, int in_a_row);

// Queues work on the timer's stream.
using work_function = std::function<void()>;

// For the current device.
class cuda_timer {
public:
    cuda_timer();
    ~cuda_timer();
    cuda_timer(const cuda_timer&) = delete;
    cuda_timer& operator=(const cuda_timer&) = delete;

    cudaStream_t stream() const { return stream_; }
    std::int64_t flush_bytes() const { return flush_bytes_; }  // of device memory, while it measures

    // What a sample runs: the work, or a graph of it, which what is returned owns.
    work_function prepare(const work_function& work, const timing_method& how) const;

    // Seconds a launch or a call takes of each, sampled in turn (lab/statistics.hpp). By the wall clock, who has taken
    // a second or twice what the samples may take sits out the rest.
    std::vector<timing> measure(const std::vector<work_function>& prepared, const timing_method& how,
                                const sampling& samples, std::uint64_t seed) const;

private:
    double by_events(const work_function& work, const timing_method& how) const;
    double by_wall_clock(const work_function& work, const timing_method& how) const;
    void flush(void* memory) const;
    void make_lines_ordinary() const;

    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    std::int64_t flush_bytes_ = 0;
    bool persisting_l2_ = false;
};

}  // namespace cornerturn::lab
