// Results as people read them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "device/registry.hpp"
#include "lab/result.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// What its file says of it.
nlohmann::ordered_json to_json(const kernel& k);

// Every kernel: id, idea, origin, what it takes and needs.
std::string show_list(const std::vector<kernel>& all, format as);

// A row a kernel, and below it how many ran, failed and were skipped, and why. On a terminal the times, the emulator's
// counters and the hardware's are tables of their own, and the table leaves out origin and grid.
std::string show_ladder(const std::vector<result>& all, format as);

// Every counter with a line on what it means, and the time on a GPU.
std::string show_profile(const result& r, format as);

// The lines above a kernel's counters: work, device, launch, what was verified and how long it took.
std::string profile_heading(const result& r);

// Counters by source line: a row for its loads, and one for its stores, where it has them.
table lines_table(const result& r);
std::size_t directions_of(const emulator::line_counters& line);  // how many rows

// One line on what a counter says of the kernel, such as "32 sectors a request: strided".
std::string reading(const result& r, const metric& m);

}  // namespace cornerturn::lab
