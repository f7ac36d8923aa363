// What is listed of stored results.
#pragma once

#include <string>
#include <vector>

#include "report/compare.hpp"
#include "report/document.hpp"
#include "report/page.hpp"

namespace cornerturn::report {

text_table times(const ladder& l);
text_table counters(const ladder& l);
// Emulator and hardware, where a ladder holds the counters of both.
text_table agreement(const ladder& l);
bool disagrees(const rung& r);
// What hardware alone tells; no rows where it told nothing.
text_table hardware_only(const ladder& l);

// Worst and median ratio of everyone, by group and element size. In host memory caches hold the small matrices: those
// are left out.
text_table by_group(const bench& b, bool host);
// Shape by shape, where elements are of one size.
text_table by_shape(const bench& b);

text_table side_by_side(const std::vector<change>& all);

// "memcpy 4,204 to 4,243 GB/s", and where and when.
std::string measured_where(const document& d);

}  // namespace cornerturn::report
