// Shows a bench of cells drawn at random: percentiles instead of one row a cell.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "lab/bench_views.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// Percentiles of the ratio to each yardstick, over all cells, by kind and by element size; percentiles of the peers;
// how often each ordered copy was the fastest; the worst cells with the library's choice; the regret, if it was
// measured. For small cells, the time divided by that of the fastest copy stands instead of the ratio.
std::string show_random(const bench_report& report, format as);

// The percentiles and the regret, which are added to the document of cells.
nlohmann::ordered_json random_json(const bench_report& report);

}  // namespace cornerturn::lab
