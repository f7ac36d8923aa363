// Texts that several views of a result share.
#pragma once

#include <cstdint>
#include <string>

#include "lab/result.hpp"

namespace cornerturn::lab {

std::string number(double value);  // "4", "2.50"
// a / b; "-" if b is 0.
std::string per(std::uint64_t a, std::uint64_t b);

std::string extent(const emulator::extent3& e);  // "32 x 8"
std::string verified_text(const result& r);
// "1135.71 (1130.20-1140.33)": the median and the 10th to the 90th percentile, in microseconds. On a terminal, large
// numbers have fewer decimals.
std::string time_range(const timing& t, bool on_terminal = false);

// Finds cells or rungs whose yardstick was unsteady: other programs were running, or clocks changed.
class unsteady_yardstick {
public:
    void add(const timing& yardstick, const std::string& where);
    // A line about the unsteady ones; empty if there are none.
    std::string text(const std::string& yardstick, const char* of_what) const;

private:
    static constexpr double kSteady = 0.05;
    int all_ = 0, unsteady_ = 0;
    double most_ = 0;
    std::string most_at_;
};

std::string work_text(const result& r);    // "1024 x 1024 f32"
std::string device_text(const result& r);  // "emulator"

}  // namespace cornerturn::lab
