// Compares two sets of counters: the emulator's and the hardware's of one kernel, or those of two kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/registry.hpp"
#include "lab/result.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// A counter's value from the emulator and from the hardware, and the reason if they differ.
struct counter_comparison {
    std::string metric;  // Nsight Compute's name
    std::uint64_t emulated = 0;
    double measured = 0;
    std::string why;
    bool equal() const { return static_cast<double>(emulated) == measured; }
};

// First the counters that the emulator models. Then those that also count lost arbitration, beside the modelled value.
// Empty unless the result has counters of both.
std::vector<counter_comparison> compare_with_hardware(const result& r);

// How many of the modelled counters are equal, such as "8 of 8"; "-" if nothing can be compared.
std::string agreement(const result& r);

// The emulator's counters beside the hardware's.
std::string show_comparison(const result& r, format as);

// Two kernels on the same work: what changed, the counters of both, and the counter that explains the difference.
std::string show_difference(const kernel& from, const result& before, const kernel& to, const result& after, format as);

// The sentences at the end of show_difference().
std::string explain_difference(const result& before, const result& after);

}  // namespace cornerturn::lab
