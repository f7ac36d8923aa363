// Charts of stored results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/plots.hpp"

namespace cornerturn::report {

// The display name of a contestant's key in a stored bench: the key itself if it has no other name.
std::string contestant_name(const std::string& key);
// Whether it is one of the library's own kernels.
bool is_library_kernel(const std::string& kernel);
// "transposes", "permutations": the operation's name if it has no other.
std::string work_name(const operation& op);

// A counter that costs time. The charts show its value for each 32 steps of the operation, in the order of
// cost_kinds().
struct cost {
    const char *metric, *name, *style;
};
const std::vector<cost>& cost_kinds();
double cost_of(const rung& r, const cost& kind, const ladder& l);

// "cornerturn" if the subject is one of the library's own kernels.
std::string subject_name(const bench& b);
// The subject and each contestant that was timed, in the order in which they are stored.
std::vector<std::string> contestants(const bench& b);
// Null if the cell does not have it.
const entry* find_entry(const cell& c, const std::string& contestant);
// Whether the contestant is an upper bound on the others' speed, not a peer.
bool is_ceiling(const bench& b, const std::string& contestant);

// One bar per rung: its ratio. The ladder must have times.
drawing ladder_bars(const ladder& l);
// Sectors and wavefronts of each rung. Nothing if no rung has counters, or if the matrix is empty.
std::optional<drawing> costs(const ladder& l);
// At least two ladders with times, sorted by size. Nothing if no kernel ran at every size.
std::optional<drawing> ratios_by_size(const std::vector<const ladder*>& ladders);

// Ratios by shape and element size, as coloured cells.
drawing ratio_heat_map(const bench& b);
// The ratio of each contestant at each shape, as a mark.
drawing peer_marks(const bench& b);
// Square matrices only: ratio against n, one line per element size. Nothing if there are fewer than two sizes.
std::optional<drawing> squares(const bench& b);
// One bar per cell. For benches with one element size.
drawing ratios_by_shape(const bench& b);
// For benches whose rate counts operations. bandwidth: a copy's speed on the same device in GB/s, if it was measured.
drawing roofline(const bench& b, std::optional<double> bandwidth);

}  // namespace cornerturn::report
