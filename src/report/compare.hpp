// Stored results of the same work, before and after.
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace cornerturn::report {

enum class judgement { within, faster, slower };

// A change counts where the ranges from the 10th to the 90th percentile do not meet.
judgement judge(const lab::timing& before, const lab::timing& after);

struct change {
    std::string what;  // a kernel's id, or a cell's shape
    bool kernel;
    lab::timing before, after;
    double ratio_before, ratio_after;  // to the yardstick of their own run

    judgement beyond() const { return judge(before, after); }
    double percent() const { return (after.median_s / before.median_s - 1) * 100; }
};

// What two documents must share to be compared; empty where nothing was timed.
std::string work_of(const document& d);

// What was timed in both.
std::vector<change> changes(const document& before, const document& after);
// What was timed in one of the two alone.
std::vector<std::string> not_in_both(const document& before, const document& after);

}  // namespace cornerturn::report
