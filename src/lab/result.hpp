// The result of one run of one kernel: the object that `profile --format json` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "emulator/counters.hpp"
#include "emulator/emulation.hpp"
#include "emulator/metrics.hpp"
#include "lab/hardware.hpp"

namespace cornerturn::lab {

struct device_info {
    std::string kind = "emulator";       // "emulator", "cuda" or "host"
    std::string name = {};               // cuda, and the host of a bench
    std::string driver = {}, cuda = {};  // cuda
    int cores = 0;                       // the host of a bench

    std::string text() const;  // "NVIDIA H200 (driver 580.159.04, CUDA 13.0)"
};

struct timing {
    double median_s = 0, p10_s = 0, p90_s = 0;
    int samples = 0;

    // From the 10th to the 90th percentile, as a fraction of the median.
    double spread() const { return median_s > 0 ? (p90_s - p10_s) / median_s : 0; }
    // Whether the ranges from the 10th to the 90th percentile do not overlap.
    bool is_clearly_different_from(const timing& other) const { return p90_s < other.p10_s || other.p90_s < p10_s; }
};

// How long to sample: until both limits are reached.
struct sampling {
    double seconds = 0.5;
    int rounds = 20;
};

struct measured_time {
    timing kernel, yardstick;
    std::string yardstick_name;  // "memcpy"
    std::string method;          // timing_method::text()
    double amount = 0;           // bytes moved, or arithmetic operations: what the operation's rate counts
    rate_unit unit = kBandwidth;
    double peak = 0;  // the most bytes or operations a second that the device can do; 0: not known

    double rate() const { return amount / kernel.median_s / 1e9; }
    double yardstick_rate() const { return amount / yardstick.median_s / 1e9; }
    double ratio() const { return yardstick.median_s / kernel.median_s; }
};

// some_blocks: one block of each class ran, and only its tiles were checked.
enum class verification { failed, some_blocks, passed };

struct trials_outcome {
    int passed = 0, declined = 0;
    std::string fault = {};  // the kernel's first mistake, and the trial; empty if there is none
};

struct result {
    std::string kernel, origin;
    workload_pointer work;
    int placement = 0;  // run_request::placement
    device_info device;
    std::string skipped;  // the reason; empty if it ran

    bool launched = false;  // false on the host, and if there was nothing to do
    emulator::extent3 grid{0, 0, 0}, block{0, 0, 0};
    std::uint64_t launches = 0;

    verification verified = verification::failed;
    std::string fault;  // what is wrong, if it failed
    std::int64_t checked_elements = 0, checked_of = 0;
    std::optional<trials_outcome> trials;  // none if the work itself failed

    std::optional<emulator::counters> counts;  // from the emulator
    std::vector<emulator::line_counters> lines;
    std::vector<emulator::watched_access> watched;
    std::optional<hardware_counters> hardware;
    std::optional<measured_time> time;
    double published_rate = 0;  // from the published notes; 0 if they have none

    bool ran() const { return skipped.empty(); }
    bool failed() const { return ran() && verified == verification::failed; }
};

using emulator::metric;
using emulator::metrics;

nlohmann::ordered_json to_json(const device_info& device);
nlohmann::ordered_json to_json(const timing& t);
nlohmann::ordered_json to_json(const result& r);
// {"results": [...]}
nlohmann::ordered_json to_json(const std::vector<result>& all);

}  // namespace cornerturn::lab
