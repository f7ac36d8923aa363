#include "move/measure.hpp"

#include <algorithm>
#include <vector>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "move/policy_measured.hpp"

namespace cornerturn::moves {
namespace {

constexpr double kHopeless = 2;  // times the least predicted cost, or the least measured time
constexpr int kFirstRounds = 3, kLastRounds = 15;
constexpr std::size_t kFinalists = 3;

class event {
public:
    event() { CORNERTURN_CUDA(cudaEventCreate(&event_)); }
    ~event() { cudaEventDestroy(event_); }
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    void record(cudaStream_t stream) { CORNERTURN_CUDA(cudaEventRecord(event_, stream)); }
    double ms_until(const event& end) const {
        CORNERTURN_CUDA(cudaEventSynchronize(end.event_));
        float ms = 0;
        CORNERTURN_CUDA(cudaEventElapsedTime(&ms, event_, end.event_));
        return ms;
    }

private:
    cudaEvent_t event_{};
};

struct contestant {
    candidate way;
    plan ready;
    std::vector<double> ms;

    double median() {
        const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
        std::nth_element(ms.begin(), middle, ms.end());
        return *middle;
    }
};

// In turn. The first round warms up.
void time_all(std::vector<contestant>& all, int rounds, cudaStream_t stream) {
    event begin, end;
    for (contestant& one : all) one.ms.clear();
    for (int round = 0; round <= rounds; ++round) {
        for (contestant& one : all) {
            begin.record(stream);
            run_on_gpu(one.ready);
            end.record(stream);
            const double ms = begin.ms_until(end);
            if (round > 0) one.ms.push_back(ms);
        }
    }
    std::sort(all.begin(), all.end(), [](contestant& a, contestant& b) { return a.median() < b.median(); });
}

}  // namespace

void check_not_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    CORNERTURN_CUDA(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone)
        throw invalid_argument("the stream is in capture: measure before the capture, because that launches and waits");
}

void measure(const strided_copy& c, int device, cudaStream_t stream) {
    const gpu on = device::gpu_of(device);
    const device::stream_scope launches_go_to(stream, device);
    // Many parts of a copy of very many runs are alike.
    std::vector<strided_copy> parts;
    for_each_part(c, [&](const strided_copy& part) {
        const auto is_alike = [&](const strided_copy& other) {
            return part.runs() == other.runs() && (part.source - other.source) % kAlignmentPeriod == 0 &&
                   (part.destination - other.destination) % kAlignmentPeriod == 0;
        };
        if (std::none_of(parts.begin(), parts.end(), is_alike)) parts.push_back(part);
    });
    for (const strided_copy& part : parts) {
        std::vector<contestant> all;
        const std::vector<candidate> ways = candidates(part, on);
        double least = ways.front().cost;
        for (const candidate& way : ways) least = std::min(least, way.cost);
        for (const candidate& way : ways) {
            if (way.by != kernel_family::nothing && way.cost <= kHopeless * least)
                all.push_back({way, work_out(way, part, on), {}});
        }
        if (all.empty()) continue;
        time_all(all, kFirstRounds, stream);
        const double limit = kHopeless * all.front().median();
        std::erase_if(all, [&](contestant& one) { return one.median() > limit; });
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kFinalists)), all.end());
        time_all(all, kLastRounds, stream);
        remember_measured(part, on, all.front().way);
    }
}

}  // namespace cornerturn::moves
