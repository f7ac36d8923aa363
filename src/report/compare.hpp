// Compares stored results of the same work, before and after a change.
#pragma once

#include <string>
#include <vector>

#include "report/document.hpp"

namespace cornerturn::report {

enum class speed_verdict { within, faster, slower };

// A change counts only if the ranges from the 10th to the 90th percentile do not overlap.
speed_verdict verdict_of(const lab::timing& before, const lab::timing& after);

struct change {
    std::string name;  // a kernel's id, or a cell's group and shape
    bool kernel;
    lab::timing before, after;
    double ratio_before, ratio_after;  // to the yardstick of their own run

    speed_verdict verdict() const { return verdict_of(before, after); }
    double percent() const { return (after.median_s / before.median_s - 1) * 100; }
};

// Names the measured work. Documents with the same key can be compared. Empty if nothing was timed.
std::string comparison_key(const document& d);

// Kernels or cells that were timed in both. If a document has one twice, the first counts.
std::vector<change> changes(const document& before, const document& after);
// Names of those that were timed in only one of the two.
std::vector<std::string> not_in_both(const document& before, const document& after);

}  // namespace cornerturn::report
