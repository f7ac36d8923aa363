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
    double peak_flops = 0;  // a second, where the operation's rate counts them; 0: not known
    bench_request what = {};
    std::vector<bench_result> results = {};
    nlohmann::ordered_json provenance = nullptr;  // what a stored result needs to be made again
};

// Of cells drawn at random: lab/bench_random.hpp. Else: a row a cell; below them a row a group of shapes with the worst
// and the median ratio of the subject and in how many cells it stays below what it must reach or behind a peer; then
// what was skipped and what failed. In CSV the cells.
std::string show_bench(const bench_report& report, format as);

nlohmann::ordered_json to_json(const bench_report& report);

// What a random cell is compared with: bench_result::judge(), or of small cells that write whole sectors the fastest
// copy.
const bench_entry& judge_of(const bench_report& report, const bench_result& r);
// The judge's time divided by the entry's.
double figure_of(const bench_report& report, const bench_result& r, const bench_entry& e);

// What a peer is called in tables: its id without its family.
std::string short_name(const kernel& k);
// "8192 x 8192 of 4 bytes", or without the bytes where all elements are alike.
std::string where_text(const bench_report& report, const bench_result& r, const char* unit = " bytes");

}  // namespace cornerturn::lab
