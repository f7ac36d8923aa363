// A bench as people and programs read it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "lab/bench.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

struct bench_report {
    device_info device = {};
    bench_request what = {};
    std::vector<bench_result> results = {};
    nlohmann::ordered_json provenance = nullptr;  // what a stored result needs to be made again
};

// A row a cell; below them a row a group of shapes with the worst and the median ratio of the subject and in how many
// cells it stays below what it must reach or behind a peer; then what was skipped and what failed. In CSV the cells.
std::string show_bench(const bench_report& report, format as);

nlohmann::ordered_json to_json(const bench_report& report);

// What became of a kernel in a cell, before its time.
nlohmann::ordered_json outcome_json(const std::string& kernel, const std::string& skipped, const std::string& fault);

// The document with its cells, one a line: small, and readable in a diff.
std::string print_cells(const nlohmann::ordered_json& document, const nlohmann::ordered_json& cells);

}  // namespace cornerturn::lab
