// The results of a bench as text for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "lab/bench.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

struct bench_report {
    device_info device = {};
    double peak_flops = 0;  // a second; 0: not known, or the operation's rate counts bytes
    bench_request request = {};
    std::vector<bench_result> results = {};
    nlohmann::ordered_json provenance = nullptr;  // what somebody needs to repeat a stored measurement
};

// Cells drawn at random: lab/bench_random.hpp. Otherwise one row a cell, then one row a group of shapes, then what was
// skipped and what failed. The row of a group has the subject's worst and median ratio. It counts the cells in which
// the subject is below a ratio that it must reach, or slower than a peer. CSV has the cells only.
std::string show_bench(const bench_report& report, format as);

nlohmann::ordered_json to_json(const bench_report& report);

// The kernel that a random cell is compared with: bench_result::reference(). For a small cell that writes whole
// sectors, the fastest copy.
const bench_entry& reference_of(const bench_report& report, const bench_result& r);
// The reference's time divided by the entry's.
double reference_ratio_of(const bench_report& report, const bench_result& r, const bench_entry& e);

// A kernel's name in tables: its id without the family.
std::string short_name(const kernel& k);
// "8192 x 8192 of 4 bytes". Without the bytes if the operation has one element size.
std::string where_text(const bench_report& report, const bench_result& r, const char* unit = " bytes");

}  // namespace cornerturn::lab
