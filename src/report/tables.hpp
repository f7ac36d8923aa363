// Tables of stored results.
#pragma once

#include <string>
#include <vector>

#include "report/compare.hpp"
#include "report/document.hpp"
#include "report/page.hpp"

namespace cornerturn::report {

text_table times(const ladder& l);
text_table counters(const ladder& l);
// The emulator's counters and the hardware's, for rungs that have both.
text_table agreement(const ladder& l);
bool disagrees(const rung& r);
// Counters that only the hardware has. No rows if there are none.
text_table hardware_only(const ladder& l);

// Worst and median ratio of each contestant, by group and element size. With `host`, only large matrices count: the
// small ones stay in the caches.
text_table by_group(const bench& b, bool host);
// One row per shape. For benches with one element size.
text_table by_shape(const bench& b);

text_table side_by_side(const std::vector<change>& all);

// Where and when it was measured, and the yardstick's speed: "memcpy 4,204 to 4,243 GB/s".
std::string measured_where(const document& d);

}  // namespace cornerturn::report
