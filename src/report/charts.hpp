// What is drawn of stored results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/plots.hpp"

namespace cornerturn::report {

// What a contestant's key in a stored bench is called; the key itself where nobody says.
std::string contestant_name(const std::string& key);
// The library's own kernels.
bool is_production(const std::string& kernel);
// "transposes", "permutations"; the operation's name where nobody says.
std::string work_name(const operation& does);

// What one of the counters costs a kernel for each 32 steps of its operation; in the order in which it is drawn.
struct cost {
    const char *metric, *name, *style;
};
const std::vector<cost>& cost_kinds();
double cost_of(const rung& r, const cost& kind, const ladder& l);

// The subject too: the library's own kernels are cornerturn.
std::string subject_name(const bench& b);
// Contestants that moved anything, in the order in which they are stored.
std::vector<std::string> contestants(const bench& b);
// Null where it is not among the cell's.
const entry* find_entry(const cell& c, const std::string& contestant);
// An upper bound on the others' speed, no peer.
bool is_ceiling(const bench& b, const std::string& contestant);

// Of a ladder with times: the ratio of each rung.
drawing staircase(const ladder& l);
// What rungs cost in sectors and wavefronts; nothing where none was counted, or there was nothing to do.
std::optional<drawing> costs(const ladder& l);
// Ladders of several sizes, at least two and with times, in the order of their sizes.
std::optional<drawing> ratios_by_size(const std::vector<const ladder*>& ladders);

drawing heat(const bench& b);
drawing beside_peers(const bench& b);
// Squares alone: ratio against n, a line an element size. Nothing where there are not two.
std::optional<drawing> squares(const bench& b);
// Its cells one by one, where elements are of one size.
drawing ratios_by_shape(const bench& b);
// Where its rate counts operations. bandwidth: that a copy reached on the same device, in GB/s, if anybody measured it.
drawing roofline(const bench& b, std::optional<double> bandwidth);

}  // namespace cornerturn::report
