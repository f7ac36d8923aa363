#include "lab/bench_views.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "lab/bench_random.hpp"
#include "lab/statistics.hpp"
#include "lab/view_text.hpp"

namespace cornerturn::lab {
namespace {

using nlohmann::ordered_json;

const operation_facts& facts_of(const bench_report& report) { return report.request.op->facts(); }
bool of_sizes(const bench_report& report) { return facts_of(report).of_sizes(); }

std::string yardstick_text(const bench_report& report) {
    return report.request.op->yardstick_text(report.device.kind == "cuda" ? backend::cuda : backend::host);
}

}  // namespace

std::string short_name(const kernel& k) { return k.id.substr(k.id.find('/') + 1); }

const bench_entry& reference_of(const bench_report& report, const bench_result& r) {
    if (!report.request.small || r.has_ordered_reference()) return r.reference();
    const bench_entry* best = &r.yardstick;
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
        const bench_entry& peer = r.peers[i];
        if (!report.request.op->is_ceiling(*report.request.peers[i]) || !peer.timed()) continue;
        if (!best->timed() || peer.time.median_s < best->time.median_s) best = &peer;
    }
    return *best;
}

double reference_ratio_of(const bench_report& report, const bench_result& r, const bench_entry& e) {
    return reference_of(report, r).time.median_s / e.time.median_s;
}

std::string where_text(const bench_report& report, const bench_result& r, const char* unit) {
    const std::string shape = r.cell.work->text();
    return of_sizes(report) ? fmt::format("{} of {}{}", shape, r.cell.work->type().size, unit) : shape;
}

namespace {

std::string ratio_text(const bench_result& r, const bench_entry& e) {
    if (!r.skipped.empty()) return "-";
    if (!e.fault.empty()) return "WRONG";
    return r.compared(e) ? fmt::format("{:.3f}", r.ratio(e)) : "-";
}

// Arithmetic is shown in TFLOP/s.
std::string rate_text(const bench_report& report, const bench_result& r, const bench_entry& e) {
    if (!r.skipped.empty() || !e.skipped.empty()) return "-";
    if (!e.fault.empty()) return facts_of(report).rate.arithmetic != nullptr ? "WRONG" : "-";
    return facts_of(report).rate.arithmetic != nullptr ? fmt::format("{:.2f}", e.rate() / 1e3)
                                                       : fmt::format("{:.1f}", e.rate());
}

std::string comparison_text(const bench_result& r, const bench_comparison& by) {
    if (!r.compared(r.subject)) return "-";
    const auto value = [&](const bench_entry& e) { return e.more.at(by.object).at(by.member).get<double>(); };
    const double theirs = value(r.yardstick);
    return theirs == 0 ? "-" : fmt::format("{:.2f}", value(r.subject) / theirs);
}

std::string ratio_text(const bench_result& r, const bench_way_result& way) {
    if (!r.skipped.empty()) return "-";
    if (!way.subject.fault.empty()) return "WRONG";
    return way.compared() ? fmt::format("{:.3f}", way.ratio()) : "-";
}

// The timing method of all cells that ran; empty if there are several.
std::string common_method(const bench_report& report) {
    std::string method;
    for (const bench_result& r : report.results) {
        if (!r.skipped.empty() || r.method == method) continue;
        if (!method.empty()) return "";
        method = r.method;
    }
    return method;
}

table cells_table(const bench_report& report, bool with_method) {
    const operation_facts& facts = facts_of(report);
    const char* const rate = facts.rate.arithmetic != nullptr ? "TFLOP/s" : facts.rate.name;
    table t{{{"group"}, {facts.shape_heading, of_sizes(report)}}, {}};
    if (of_sizes(report)) t.columns.push_back({"bytes", true});
    t.columns.insert(t.columns.end(), {{"us", true}, {rate, true}});
    if (report.peak_flops > 0) t.columns.push_back({"of peak", true});
    t.columns.insert(
        t.columns.end(),
        {{fmt::format("{} {}", facts.bench_yardstick, rate), true, facts.bench_yardstick, rate}, {"ratio", true}});
    for (const way_request& way : report.request.ways)
        t.columns.push_back({"ratio, " + way.name, true, "ratio", way.name});
    for (const bench_comparison& by : facts.comparisons) t.columns.push_back({by.heading, true});
    for (const kernel* peer : report.request.peers) {
        const std::string name = short_name(*peer);
        const std::size_t variant = name.find('@') + 1;  // 0: none
        t.columns.push_back({name, true, name.substr(0, variant), name.substr(variant)});
    }
    const bool random = report.request.random_cells > 0;
    if (random) {
        for (const char* heading : {"figure", "regret"}) t.columns.push_back({heading, true});
        t.columns.insert(t.columns.end(), {{"compared with"}, {"choice"}});
    }
    if (with_method) t.columns.push_back({"timed"});
    for (const bench_result& r : report.results) {
        const bool timed = r.skipped.empty() && r.subject.timed();
        std::vector<std::string> row = {r.cell.group, r.cell.work->text()};
        if (of_sizes(report)) row.push_back(std::to_string(r.cell.work->type().size));
        row.push_back(timed ? fmt::format("{:.2f}", r.subject.time.median_s * 1e6) : "-");
        row.push_back(rate_text(report, r, r.subject));
        if (report.peak_flops > 0)
            row.push_back(timed ? fmt::format("{:.3f}", r.subject.rate() * 1e9 / report.peak_flops) : "-");
        row.push_back(rate_text(report, r, r.yardstick));
        row.push_back(ratio_text(r, r.subject));
        for (const bench_way_result& way : r.ways) row.push_back(ratio_text(r, way));
        for (const bench_comparison& by : facts.comparisons) row.push_back(comparison_text(r, by));
        for (const bench_entry& peer : r.peers) row.push_back(ratio_text(r, peer));
        if (random) {
            const bool compared = r.compared(r.subject);
            row.push_back(compared ? fmt::format("{:.3f}", reference_ratio_of(report, r, r.subject)) : "-");
            row.push_back(r.regret && r.regret->fault.empty() ? fmt::format("{:.3f}", r.regret->share()) : "-");
            row.push_back(compared ? reference_of(report, r).kernel : "-");
            row.push_back(r.choice.empty() ? "-" : r.choice);
        }
        if (with_method) row.push_back(r.skipped.empty() ? r.method : "skipped");
        t.rows.push_back(std::move(row));
    }
    return t;
}

// Whether the subject is slower than a peer that does the same work.
bool is_slower_than_a_peer(const bench_report& report, const bench_result& r) {
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
        if (report.request.op->is_ceiling(*report.request.peers[i]) || !r.compared(r.peers[i])) continue;
        if (r.peers[i].time.median_s < r.subject.time.median_s) return true;
    }
    return false;
}

std::vector<std::string> group_row(const bench_report& report, const std::string& name,
                                   const std::vector<const bench_result*>& cells) {
    std::vector<double> ratios;
    const bench_result* worst = nullptr;
    std::size_t slower = 0;
    for (const bench_result* r : cells) {
        ratios.push_back(r->ratio(r->subject));
        if (worst == nullptr || ratios.back() < worst->ratio(worst->subject)) worst = r;
        slower += is_slower_than_a_peer(report, *r);
    }
    std::vector<std::string> row = {name, std::to_string(cells.size()),
                                    fmt::format("{:.3f}", worst->ratio(worst->subject)), where_text(report, *worst, ""),
                                    fmt::format("{:.3f}", percentile(ratios, 0.5))};
    for (double least : facts_of(report).must_reach) {
        row.push_back(std::to_string(std::count_if(ratios.begin(), ratios.end(), [&](double x) { return x < least; })));
    }
    if (!report.request.peers.empty()) row.push_back(std::to_string(slower));
    return row;
}

table groups_table(const bench_report& report) {
    const operation_facts& facts = facts_of(report);
    const std::string at = of_sizes(report) ? "bytes an element" : facts.shape_heading;
    table t{{{"group"}, {"cells", true}, {"worst", true}, {fmt::format("at ({})", at)}, {"median", true}}, {}};
    for (double least : facts.must_reach)
        t.columns.push_back({least == 1 ? "< 1" : fmt::format("< {:.2f}", least), true});
    if (!report.request.peers.empty()) t.columns.push_back({"slower than a peer", true});
    std::map<std::string, std::vector<const bench_result*>> by_group;
    for (const bench_result& r : report.results) {
        if (!r.compared(r.subject)) continue;
        by_group[r.cell.group].push_back(&r);
        by_group["all"].push_back(&r);
    }
    for (const std::string& name : report.request.op->bench_groups()) {
        if (by_group.contains(name)) t.rows.push_back(group_row(report, name, by_group[name]));
    }
    if (by_group.size() > 2) t.rows.push_back(group_row(report, "all", by_group["all"]));
    return t;
}

// How steady the yardstick was; each reason to skip, with its number of cells; each failure.
std::string remarks(const bench_report& report) {
    std::map<std::string, int> skips;
    std::string failures;
    unsteady_yardstick unsteady;
    for (const bench_result& r : report.results) {
        if (!r.skipped.empty()) {
            ++skips[fmt::format("{}: {}", where_text(report, r), r.skipped)];
            continue;
        }
        if (r.yardstick.timed()) unsteady.add(r.yardstick.time, where_text(report, r));
        for (const bench_entry* e : r.every_entry()) {
            if (!e->skipped.empty()) ++skips[fmt::format("{}: {}", e->kernel, e->skipped)];
            if (!e->fault.empty())
                failures += fmt::format("FAILED {}, {}: {}\n", e->kernel, where_text(report, r), e->fault);
        }
        if (r.regret && !r.regret->fault.empty())
            failures += fmt::format("FAILED a candidate, {}: {}\n", where_text(report, r), r.regret->fault);
    }
    std::string out = unsteady.text(facts_of(report).bench_yardstick, "cells");
    for (const auto& [reason, cells] : skips) {
        out += fmt::format("skipped {}{}\n", reason, cells > 1 ? fmt::format(" ({} cells)", cells) : "");
    }
    return out + failures;
}

// A kernel's status and time in a cell.
ordered_json entry_json(const bench_report& report, const bench_entry& e) {
    ordered_json out = {{"kernel", e.kernel}, {"status", e.skipped.empty() ? "ran" : "skipped"}};
    if (!e.skipped.empty()) {
        out["reason"] = e.skipped;
        return out;
    }
    out["verified"] = e.fault.empty();
    if (!e.fault.empty()) {
        out["fault"] = e.fault;
        return out;
    }
    out["time"] = to_json(e.time);
    out[facts_of(report).rate.json] = e.rate();
    out.update(e.more);
    return out;
}

// The same, with the ratio to the cell's yardstick.
ordered_json compared_json(const bench_report& report, const bench_result& r, const bench_entry& e) {
    ordered_json out = entry_json(report, e);
    if (r.compared(e)) out["ratio"] = r.ratio(e);
    return out;
}

ordered_json ways_json(const bench_report& report, const bench_result& r) {
    ordered_json out = ordered_json::array();
    for (const bench_way_result& way : r.ways) {
        ordered_json one = {{"way", way.name},
                            {"method", way.method},
                            {"yardstick", entry_json(report, way.yardstick)},
                            {"subject", entry_json(report, way.subject)}};
        if (way.compared()) one["ratio"] = way.ratio();
        out.push_back(std::move(one));
    }
    return out;
}

// The members that only random cells have.
void add_draw(const bench_report& report, const bench_result& r, ordered_json& out) {
    out["writes_whole_sectors"] = r.cell.work->writes_whole_sectors();
    if (!r.ordered_copies.empty()) {
        ordered_json& ordered = out["ordered"] = ordered_json::object();
        if (r.has_ordered_reference()) ordered["kernel"] = r.reference().kernel;
        if (r.has_ordered_reference() && r.subject.timed()) ordered["ratio"] = r.reference_ratio(r.subject);
        for (std::size_t i = 0; i < r.ordered_copies.size(); ++i) {
            ordered["variants"][short_name(*report.request.ordered_copies[i])] =
                compared_json(report, r, r.ordered_copies[i]);
        }
    }
    if (r.compared(r.subject)) out["figure"] = reference_ratio_of(report, r, r.subject);
    if (report.request.small && r.compared(r.subject)) out["judge"] = reference_of(report, r).kernel;
    if (!r.choice.empty()) out["choice"] = r.choice;
    if (!r.regret) return;
    ordered_json& regret = out["regret"] = {{"candidates", r.regret->candidates}, {"chosen", r.regret->chosen}};
    if (!r.regret->fault.empty()) {
        regret["fault"] = r.regret->fault;
        return;
    }
    regret["best"] = r.regret->best;
    regret["chosen_time"] = to_json(r.regret->chosen_time);
    regret["best_time"] = to_json(r.regret->best_time);
    regret["share"] = r.regret->share();
    // bench/fit_moves.py and bench/fit_products.py fit the predicted costs to these.
    for (const bench_regret::measured& one : r.regret->all) {
        regret["medians_s"][one.name] = one.median_s;
        if (one.predicted_s > 0) regret["predicted_s"][one.name] = one.predicted_s;
        if (!one.counts.empty()) regret["counts"][one.name] = one.counts;
    }
}

ordered_json cell_json(const bench_report& report, const bench_result& r) {
    ordered_json out = {{"group", r.cell.group}, {"shape", r.cell.work->text()}};
    r.cell.work->describe(out);
    out["status"] = r.skipped.empty() ? "ran" : "skipped";
    if (!r.skipped.empty()) {
        out["reason"] = r.skipped;
        return out;
    }
    out["method"] = r.method;
    out["yardstick"] = entry_json(report, r.yardstick);
    out["subject"] = compared_json(report, r, r.subject);
    if (r.compared(r.subject)) out["ratio"] = r.ratio(r.subject);
    out["peers"] = ordered_json::object();
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
        out["peers"][short_name(*report.request.peers[i])] = compared_json(report, r, r.peers[i]);
    }
    if (!r.ways.empty()) out["ways"] = ways_json(report, r);
    if (report.request.random_cells > 0) add_draw(report, r, out);
    return out;
}

}  // namespace

ordered_json to_json(const bench_report& report) {
    ordered_json out = {{"bench", report.request.op->name()},
                        {"subject", report.request.subject->id},
                        {"yardstick", yardstick_text(report)},
                        {"device", to_json(report.device)}};
    if (report.peak_flops > 0) out[std::string("peak_") + facts_of(report).rate.json] = report.peak_flops / 1e9;
    out["seed"] = report.request.seed;
    out["seconds"] = report.request.seconds;
    if (report.request.random_cells > 0) out["random"] = random_json(report);
    if (report.request.placement != 0) out["placement"] = report.request.placement;
    if (!report.provenance.is_null()) out["provenance"] = report.provenance;
    out["cells"] = ordered_json::array();
    for (const bench_result& r : report.results) out["cells"].push_back(cell_json(report, r));
    return out;
}

namespace {

// One line for each cell: small, and readable in a diff.
std::string print_json(const bench_report& report) {
    ordered_json document = to_json(report);
    const ordered_json cells = document["cells"];
    document.erase("cells");
    std::string out = json_text(document);
    out.back() = ',';
    out += " \"cells\": [";
    for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "\n  " : ",\n  ") + json_text(cells[i]);
    return out + "\n]}\n";
}

}  // namespace

std::string show_bench(const bench_report& report, format as) {
    if (as == format::json) return print_json(report);
    const bool on_terminal = as == format::table;
    const std::string method = on_terminal ? common_method(report) : "";
    const std::string cells = cells_table(report, method.empty()).print(as);
    if (as == format::csv) return cells;
    std::string heading = fmt::format("{} on {}; seed {}; ratios to {}, measured in turn", report.request.subject->id,
                                      report.device.text(), report.request.seed, yardstick_text(report));
    if (report.request.random_cells == 0 && !method.empty()) heading += "; " + method;
    std::string more = remarks(report);
    if (on_terminal) {
        heading = wrapped(heading);
        more = wrapped(more, 2);
    }
    heading += "\n\n";
    if (report.request.random_cells > 0) return heading + show_random(report, as) + (more.empty() ? "" : "\n" + more);
    const table groups = groups_table(report);
    return heading + cells + (groups.rows.empty() ? "" : "\n" + groups.print(as)) + (more.empty() ? "" : "\n" + more);
}

}  // namespace cornerturn::lab
