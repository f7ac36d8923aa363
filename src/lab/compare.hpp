// What two sets of counters say of each other: the emulator's and the hardware's of one kernel, or those of two
// kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/registry.hpp"
#include "lab/result.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// One counter of the hardware beside what the emulator makes of it, and why they are, or are not, the same.
struct reading_beside {
    std::string metric;  // Nsight Compute's name
    std::uint64_t emulated = 0;
    double read = 0;
    std::string why;
    bool equal() const { return static_cast<double>(emulated) == read; }
};

// Those that the emulator models, then those that also count lost arbitration beside what they should have read. Empty
// unless both have counted.
std::vector<reading_beside> compare_with_hardware(const result& r);

// How many of the modelled counters are equal, such as "8 of 8"; "-" where nothing can be compared.
std::string agreement(const result& r);

// The comparison of one kernel's run.
std::string show_comparison(const result& r, format as);

// Two kernels on the same work: what changed, both's counters, and which of them explains the difference.
std::string show_difference(const kernel& from, const result& before, const kernel& to, const result& after, format as);

// The sentence at its end.
std::string explain_difference(const result& before, const result& after);

}  // namespace cornerturn::lab
