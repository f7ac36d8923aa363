// Pictures of a warp's accesses: the lanes that touch each sector of global memory, and the lanes that each bank of
// shared memory serves in each wavefront.
#pragma once

#include <string>
#include <vector>

#include "lab/result.hpp"
#include "report/svg.hpp"

namespace cornerturn::report {

// One access in the kernel's source: its first execution by the warp, and how often the warp executed it.
struct warp_access_site {
    const emulator::watched_access* access = nullptr;
    std::size_t times = 0;
};

// Each access of the source once, in the order of its first execution. `watched` must outlive the result.
std::vector<warp_access_site> access_sites_of(const std::vector<emulator::watched_access>& watched);

// "reads source, 4 bytes a lane: 4 sectors"
std::string access_text(const emulator::watched_access& access);

// The picture of one access for a terminal, indented by two spaces.
std::string picture_text(const emulator::watched_access& access);

// A drawing of all sites, one below the other.
drawing picture_of(const std::string& title, const std::vector<warp_access_site>& sites);

}  // namespace cornerturn::report
