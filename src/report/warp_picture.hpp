// A warp's accesses as pictures: which lane's bytes lie in which sector of global memory, and which bank serves which
// lane of shared memory in which pass.
#pragma once

#include <string>
#include <vector>

#include "lab/result.hpp"
#include "report/svg.hpp"

namespace cornerturn::report {

// One access in the kernel's source: what the warp did there first, and how often it came by.
struct warp_step {
    const emulator::watched_access* access = nullptr;
    std::size_t times = 0;
};

// Each once, in the order in which the warp first came by. The accesses must outlive it.
std::vector<warp_step> steps_of(const std::vector<emulator::watched_access>& watched);

// "loads source, 4 bytes a lane: 4 sectors"
std::string step_text(const emulator::watched_access& access);

// For a terminal, indented by two spaces.
std::string picture_text(const emulator::watched_access& access);

// All steps, one below the other.
drawing picture_of(const std::string& title, const std::vector<warp_step>& steps);

}  // namespace cornerturn::report
