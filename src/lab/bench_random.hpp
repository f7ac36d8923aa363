// What a bench of cells drawn at random comes to: percentiles instead of a row a cell.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "lab/bench_views.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

// Percentiles of the ratio by yardstick, over all cells, by kind and by element size; those of the peers; how often
// which ordered copy was the fastest; the worst cells, and how the library does them; its regret, if that was asked
// for. Of small cells the time over that of the fastest copy, instead of the ratio.
std::string show_random(const bench_report& report, format as);

// The percentiles, and the regret: what is added to a document of cells.
nlohmann::ordered_json random_json(const bench_report& report);

}  // namespace cornerturn::lab
