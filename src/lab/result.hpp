// What one run of one kernel gave: the object that `profile --format json` prints.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/counters.hpp"
#include "emulator/session.hpp"
#include "lab/hardware.hpp"

namespace cornerturn::lab {

struct device_info {
    std::string kind = "emulator";       // "emulator", "cuda" or "host"
    std::string name = {};               // on cuda, and of a host that is measured
    std::string driver = {}, cuda = {};  // on cuda
    int cores = 0;                       // of a host that is measured

    std::string text() const;  // "NVIDIA H200 (driver 580.159.04, CUDA 13.0)"
};

struct timing {
    double median_s = 0, p10_s = 0, p90_s = 0;
    int samples = 0;

    // Beyond the spread: the ranges from the 10th to the 90th percentile do not meet.
    bool apart_from(const timing& other) const { return p90_s < other.p10_s || other.p90_s < p10_s; }
};

// What a rate counts.
struct rate_unit {
    const char *name, *json;  // "GB/s", "bandwidth_gbps"
};
inline constexpr rate_unit kBandwidth{"GB/s", "bandwidth_gbps"}, kArithmetic{"GFLOP/s", "gflops"};

struct measured_time {
    timing kernel, yardstick;
    std::string yardstick_what;  // "memcpy"
    std::string method;          // how it was timed, in words
    double amount = 0;           // by the kernel: bytes read plus written, or floating-point operations
    rate_unit unit = kBandwidth;
    double peak = 0;  // floating-point operations a second that the device can do; 0: not known

    double rate() const { return amount / kernel.median_s / 1e9; }
    double yardstick_rate() const { return amount / yardstick.median_s / 1e9; }
    double ratio() const { return yardstick.median_s / kernel.median_s; }
};

// Where the notes' figures for products are from.
inline constexpr const char* kNoted = "note 002, RTX 3060 Laptop, 4096 x 4096 x 4096";

enum class verification { failed, sampled, passed };

struct result {
    std::string kernel, origin, dtype;
    std::int64_t rows = 0, cols = 0;  // of the source; of a product m and n
    int placement = 0;                // of the matrices in a GPU's memory
    std::optional<std::int64_t> k;    // of a product
    int element_size = 0;
    device_info device;
    std::string skipped;  // the reason; empty where it ran

    bool launched = false;  // false on the host, and where there was nothing to do
    emulator::extent3 grid{0, 0, 0}, block{0, 0, 0};
    std::uint64_t launches = 0;

    verification verified = verification::failed;
    std::string fault;  // what is wrong, where it failed
    std::int64_t checked_elements = 0, checked_of = 0;

    std::optional<emulator::counters> counts;  // by the emulator
    std::vector<emulator::line_counters> lines;
    std::vector<emulator::watched_access> watched;
    std::optional<hardware_counters> hardware;
    std::optional<measured_time> time;
    double noted_gflops = 0;  // in note 002; 0 where it has none

    // Elements moved, or multiply-adds.
    std::int64_t work() const { return checked_of * std::max<std::int64_t>(k.value_or(1), 1); }
    bool ran() const { return skipped.empty(); }
    bool failed() const { return ran() && verified == verification::failed; }
};

// Nsight Compute's name of each counter, and where the emulator keeps it.
struct metric {
    const char* name;
    std::array<std::uint64_t, 2> emulator::counters::*where;
    emulator::direction op;
};
const std::vector<metric>& metrics();

nlohmann::ordered_json to_json(const device_info& device);
nlohmann::ordered_json to_json(const timing& t);
nlohmann::ordered_json to_json(const result& r);
// {"results": [...]}; with `provenance` what a stored result needs to be made again.
nlohmann::ordered_json to_json(const std::vector<result>& all);

}  // namespace cornerturn::lab
