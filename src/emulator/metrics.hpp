// The counters by Nsight Compute's names.
#pragma once

#include <vector>

#include "emulator/counters.hpp"
#include "emulator/emulation.hpp"

namespace cornerturn::emulator {

// Nsight Compute's name of a counter, and the member of `counters` that holds it.
struct metric {
    const char* name;
    counters::by_direction counters::*member;
    direction op;
};
// Of loads and stores.
const std::vector<metric>& metrics();
// Of atomics.
const std::vector<metric>& atomic_metrics();
// Counters without an exact equivalent in Nsight Compute.
const std::vector<metric>& derived_metrics();

// "race", "out_of_bounds", ...
const char* name_of(hazard_kind kind);

}  // namespace cornerturn::emulator
