#include "lab/bench_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

using nlohmann::ordered_json;

constexpr double kMustReach[] = {0.90, 0.98};

std::string yardstick_text(const bench_report& report) {
    const char* const copy = report.device.kind == "cuda" ? "memcpy" : "memcpy on all cores";
    return fmt::format("{} of half the bytes in the 32-byte sectors that must be read and written", copy);
}

// What a peer is called in tables: its id without its family.
std::string short_name(const kernel& k) { return k.id.substr(k.id.find('/') + 1); }

bool compared(const bench_result& r, const bench_entry& e) { return e.timed() && r.yardstick.timed(); }

std::string ratio_text(const bench_result& r, const bench_entry& e) {
    if (!r.skipped.empty()) return "-";
    if (!e.fault.empty()) return "WRONG";
    return compared(r, e) ? fmt::format("{:.3f}", r.ratio(e)) : "-";
}

std::string gbps_text(const bench_result& r, const bench_entry& e) {
    return r.skipped.empty() && e.timed() ? fmt::format("{:.1f}", e.bandwidth_gbps()) : "-";
}

table cells_table(const bench_report& report) {
    table t{{{"group"},
             {"shape", true},
             {"bytes", true},
             {"us", true},
             {"GB/s", true},
             {"copy GB/s", true},
             {"ratio", true}},
            {}};
    for (const kernel* peer : report.what.peers) t.columns.push_back({short_name(*peer), true});
    t.columns.push_back({"timed"});
    for (const bench_result& r : report.results) {
        const bool timed = r.skipped.empty() && r.subject.timed();
        std::vector<std::string> row = {r.cell.group,
                                        r.cell.text(),
                                        std::to_string(r.cell.shape.element_size),
                                        timed ? fmt::format("{:.2f}", r.subject.time.median_s * 1e6) : "-",
                                        gbps_text(r, r.subject),
                                        gbps_text(r, r.yardstick),
                                        ratio_text(r, r.subject)};
        for (const bench_entry& peer : r.peers) row.push_back(ratio_text(r, peer));
        row.push_back(r.skipped.empty() ? r.method : "skipped");
        t.rows.push_back(std::move(row));
    }
    return t;
}

// A transpose among the peers is faster. Copies are a ceiling, not a peer to beat.
bool behind_a_peer(const bench_report& report, const bench_result& r) {
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
        if (report.what.peers[i]->does == operation::copy || !compared(r, r.peers[i])) continue;
        if (r.peers[i].time.median_s < r.subject.time.median_s) return true;
    }
    return false;
}

std::vector<std::string> group_row(const bench_report& report, const std::string& name,
                                   const std::vector<const bench_result*>& cells) {
    std::vector<double> ratios;
    const bench_result* worst = nullptr;
    std::size_t behind = 0;
    for (const bench_result* r : cells) {
        ratios.push_back(r->ratio(r->subject));
        if (worst == nullptr || ratios.back() < worst->ratio(worst->subject)) worst = r;
        behind += behind_a_peer(report, *r);
    }
    std::vector<std::string> row = {name, std::to_string(cells.size()),
                                    fmt::format("{:.3f}", worst->ratio(worst->subject)),
                                    fmt::format("{} of {}", worst->cell.text(), worst->cell.shape.element_size),
                                    fmt::format("{:.3f}", percentile(ratios, 0.5))};
    for (double least : kMustReach) {
        row.push_back(std::to_string(std::count_if(ratios.begin(), ratios.end(), [&](double x) { return x < least; })));
    }
    row.push_back(std::to_string(behind));
    return row;
}

table groups_table(const bench_report& report) {
    table t{{{"group"}, {"cells", true}, {"worst", true}, {"at (bytes an element)"}, {"median", true}}, {}};
    for (double least : kMustReach) t.columns.push_back({fmt::format("< {:.2f}", least), true});
    t.columns.push_back({"behind a peer", true});
    std::map<std::string, std::vector<const bench_result*>> by_group;
    for (const bench_result& r : report.results) {
        if (!r.skipped.empty() || !compared(r, r.subject)) continue;
        by_group[r.cell.group].push_back(&r);
        by_group["all"].push_back(&r);
    }
    for (const std::string& name : bench_groups()) {
        if (by_group.contains(name)) t.rows.push_back(group_row(report, name, by_group[name]));
    }
    if (by_group.size() > 2) t.rows.push_back(group_row(report, "all", by_group["all"]));
    return t;
}

// Every reason once, with how many cells it was given for; every failure by itself.
std::string remarks(const bench_report& report) {
    std::map<std::string, int> skips;
    std::string failures;
    for (const bench_result& r : report.results) {
        if (!r.skipped.empty()) {
            ++skips[fmt::format("{} of {} bytes: {}", r.cell.text(), r.cell.shape.element_size, r.skipped)];
            continue;
        }
        for (const bench_entry* e : r.entries()) {
            if (!e->skipped.empty()) ++skips[fmt::format("{}: {}", e->kernel, e->skipped)];
            if (!e->fault.empty()) {
                failures += fmt::format("FAILED {}, {} of {} bytes: {}\n", e->kernel, r.cell.text(),
                                        r.cell.shape.element_size, e->fault);
            }
        }
    }
    std::string out;
    for (const auto& [what, cells] : skips) {
        out += fmt::format("skipped {}{}\n", what, cells > 1 ? fmt::format(" ({} cells)", cells) : "");
    }
    return out + failures;
}

ordered_json entry_json(const bench_result& r, const bench_entry& e) {
    ordered_json out = outcome_json(e.kernel, e.skipped, e.fault);
    if (!e.timed()) return out;
    out["time"] = to_json(e.time);
    out["bandwidth_gbps"] = e.bandwidth_gbps();
    if (r.yardstick.timed()) out["ratio"] = r.ratio(e);
    return out;
}

ordered_json cell_json(const bench_report& report, const bench_result& r) {
    const problem_shape s = r.cell.shape.checked();
    ordered_json out = {{"group", r.cell.group},
                        {"shape", r.cell.text()},
                        {"rows", s.rows},
                        {"cols", s.cols},
                        {"element_size", s.element_size},
                        {"source_ld", s.source_ld},
                        {"destination_ld", s.destination_ld},
                        {"source_offset", s.source_offset},
                        {"destination_offset", s.destination_offset},
                        {"count", s.count},
                        {"bytes", r.cell.bytes()},
                        {"sector_bytes", r.cell.sector_bytes()}};
    if (s.in_place) out["in_place"] = true;
    if (!r.skipped.empty()) {
        out["status"] = "skipped";
        out["reason"] = r.skipped;
        return out;
    }
    out["status"] = "ran";
    out["method"] = r.method;
    out["yardstick"] = entry_json(r, r.yardstick);
    out["yardstick"].erase("ratio");
    out["subject"] = entry_json(r, r.subject);
    out["peers"] = ordered_json::object();
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
        out["peers"][short_name(*report.what.peers[i])] = entry_json(r, r.peers[i]);
    }
    return out;
}

std::string print_json(const bench_report& report) {
    ordered_json document = to_json(report);
    const ordered_json cells = document["cells"];
    document.erase("cells");
    return print_cells(document, cells);
}

}  // namespace

ordered_json outcome_json(const std::string& kernel, const std::string& skipped, const std::string& fault) {
    ordered_json out = {{"kernel", kernel}, {"status", skipped.empty() ? "ran" : "skipped"}};
    if (!skipped.empty()) {
        out["reason"] = skipped;
        return out;
    }
    out["verified"] = fault.empty();
    if (!fault.empty()) out["fault"] = fault;
    return out;
}

std::string print_cells(const ordered_json& document, const ordered_json& cells) {
    std::string out = document.dump();
    out.back() = ',';
    out += " \"cells\": [";
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "\n  " : ",\n  ") + cells[i].dump();
    return out + "\n]}\n";
}

ordered_json to_json(const bench_report& report) {
    ordered_json out = {{"bench", "transpose"},
                        {"subject", report.what.subject->id},
                        {"yardstick", yardstick_text(report)},
                        {"device", to_json(report.device)},
                        {"seed", report.what.seed},
                        {"seconds", report.what.seconds}};
    if (report.what.placement != 0) out["placement"] = report.what.placement;
    if (!report.provenance.is_null()) out["provenance"] = report.provenance;
    out["cells"] = ordered_json::array();
    for (const bench_result& r : report.results) out["cells"].push_back(cell_json(report, r));
    return out;
}

std::string show_bench(const bench_report& report, format as) {
    if (as == format::json) return print_json(report);
    const std::string cells = cells_table(report).print(as);
    if (as == format::csv) return cells;
    const table groups = groups_table(report);
    const std::string heading =
        fmt::format("{} on {}; seed {}; ratios to {}, measured in turn\n\n", report.what.subject->id,
                    report.device.text(), report.what.seed, yardstick_text(report));
    const std::string more = remarks(report);
    return heading + cells + (groups.rows.empty() ? "" : "\n" + groups.print(as)) + (more.empty() ? "" : "\n" + more);
}

}  // namespace cornerturn::lab
