// Lists of kernels and results of runs, as text for people or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "device/registry.hpp"
#include "lab/result.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// A kernel's fixed fields and the element sizes that it takes.
nlohmann::ordered_json to_json(const kernel& k);

// Every kernel: id, origin, element sizes, needed hardware, idea.
std::string show_list(const std::vector<kernel>& all, format as);

// One row a kernel. Below the table: how many ran, failed and were skipped, and why. On a terminal, times, the
// emulator's counters and the hardware's counters are separate tables, without origin and grid.
std::string show_ladder(const std::vector<result>& all, format as);

// Every counter with its meaning, and on a GPU the time.
std::string show_profile(const result& r, format as);

// The lines above a kernel's counters: work, device, launch, verification, time.
std::string profile_heading(const result& r);

// Counters by source line: one row for the line's loads and one for its stores, if it has any.
table lines_table(const result& r);
std::size_t directions_of(const emulator::line_counters& line);  // the number of rows

// A line that explains a counter's value, such as "32 sectors a request: strided".
std::string explain(const result& r, const metric& m);

}  // namespace cornerturn::lab
